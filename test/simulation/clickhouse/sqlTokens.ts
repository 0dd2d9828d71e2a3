/** A piece of a statement. */
export interface Token {
  readonly kind: 'word' | 'number' | 'text' | 'parameter' | 'sign' | 'end';
  readonly value: string;
}

const pattern =
  /\s*(?:(?<word>[A-Za-z_][\w.]*)|(?<number>\d+)|'(?<text>(?:[^'\\]|\\.)*)'|\{(?<parameter>\w+):[^}]+\}|(?<sign><=|>=|!=|->|[-+*/=<>(),]))/y;

/** Splits a statement; strings come without their quotes and escapes. */
export function splitTokens(sql: string): Token[] {
  const tokens: Token[] = [];
  const text = sql.trimEnd();
  pattern.lastIndex = 0;
  while (pattern.lastIndex < text.length) {
    const from = pattern.lastIndex;
    const groups = pattern.exec(text)?.groups;
    if (groups === undefined)
      throw new Error(`the simulated database cannot read: ${sql.slice(from, from + 80)}`);
    const found = Object.entries(groups).find(([, value]) => value !== undefined) as [Token['kind'], string];
    const [kind, value] = found;
    tokens.push({ kind, value: kind === 'text' ? unescapeText(value) : value });
  }
  tokens.push({ kind: 'end', value: '' });
  return tokens;
}

const escapes: Readonly<Record<string, string>> = { t: '\t', n: '\n', r: '\r', 0: '\0', b: '\b', f: '\f' };

/** Replaces the escapes of a string. */
function unescapeText(text: string): string {
  return text.replace(/\\(.)/g, (_, character: string) => escapes[character] ?? character);
}
