/** A command of a client of NATS, in its text protocol. */
export type ClientCommand =
  | { readonly kind: 'connect' | 'ping' | 'pong' }
  | { readonly kind: 'subscribe'; readonly subject: string; readonly sid: string }
  | { readonly kind: 'unsubscribe'; readonly sid: string; readonly max: number | null }
  | {
      readonly kind: 'publish';
      readonly subject: string;
      readonly reply: string | null;
      readonly headers: Buffer | null;
      readonly data: Buffer;
    };

const newline = Buffer.from('\r\n');

/** Takes bytes as they arrive, and gives the commands that are complete. */
export function createCommandReader(): (bytes: Buffer) => ClientCommand[] {
  let rest: Buffer = Buffer.alloc(0);
  return (bytes) => {
    rest = rest.length === 0 ? bytes : Buffer.concat([rest, bytes]);
    const commands: ClientCommand[] = [];
    for (;;) {
      const found = readCommand(rest);
      if (found === null) return commands;
      commands.push(found.command);
      rest = rest.subarray(found.length);
    }
  };
}

function readCommand(bytes: Buffer): { readonly command: ClientCommand; readonly length: number } | null {
  const lineEnd = bytes.indexOf(newline);
  if (lineEnd === -1) return null;
  const [name = '', ...words] = bytes.toString('latin1', 0, lineEnd).trim().split(/\s+/);
  const length = lineEnd + newline.length;
  switch (name.toUpperCase()) {
    case 'CONNECT':
      return { command: { kind: 'connect' }, length };
    case 'PING':
      return { command: { kind: 'ping' }, length };
    case 'PONG':
      return { command: { kind: 'pong' }, length };
    case 'SUB': {
      const [subject = '', sid = ''] = [words[0], words.at(-1)];
      return { command: { kind: 'subscribe', subject, sid }, length };
    }
    case 'UNSUB': {
      const [sid = '', max] = words;
      return { command: { kind: 'unsubscribe', sid, max: max === undefined ? null : Number(max) }, length };
    }
    case 'PUB':
      return readPublication(bytes, length, words, 0);
    case 'HPUB':
      return readPublication(bytes, length, words.slice(0, -2).concat(words.slice(-1)), Number(words.at(-2)));
    default:
      throw new Error(`a client sent ${name}`);
  }
}

function readPublication(bytes: Buffer, from: number, words: readonly string[], headerBytes: number) {
  const [subject = ''] = words;
  const reply = words.length === 3 ? (words[1] as string) : null;
  const total = Number(words.at(-1));
  const end = from + total;
  if (bytes.length < end + newline.length) return null;
  const headers = headerBytes === 0 ? null : bytes.subarray(from, from + headerBytes);
  const data = bytes.subarray(from + headerBytes, end);
  const command = { kind: 'publish', subject, reply, headers, data } as const;
  return { command, length: end + newline.length };
}

/** Headers by name. The first line of a name counts. */
export function readHeaders(headers: Buffer | null): ReadonlyMap<string, string> {
  const found = new Map<string, string>();
  for (const line of headers?.toString('utf8').split('\r\n').slice(1) ?? []) {
    const colon = line.indexOf(':');
    const name = line.slice(0, colon);
    if (colon > 0 && !found.has(name)) found.set(name, line.slice(colon + 1).trim());
  }
  return found;
}

const star = '*'.charCodeAt(0);
const rest = '>'.charCodeAt(0);
const dot = '.'.charCodeAt(0);

/** Whether a subject matches a pattern. A wildcard always stands for whole tokens. */
export function matchesSubject(pattern: string, subject: string): boolean {
  let given = 0;
  for (let at = 0; at < pattern.length; at++) {
    const wanted = pattern.charCodeAt(at);
    if (wanted === rest) return given < subject.length;
    if (wanted === star) {
      if (given === subject.length) return false;
      while (given < subject.length && subject.charCodeAt(given) !== dot) given++;
    } else if (subject.charCodeAt(given++) !== wanted) return false;
  }
  return given === subject.length;
}
