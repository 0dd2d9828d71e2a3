import { splitTokens, type Token } from './sqlTokens.ts';

/** An expression of a statement. */
export type Expression =
  | { readonly kind: 'literal'; readonly value: string | number }
  | { readonly kind: 'column'; readonly name: string }
  | { readonly kind: 'parameter'; readonly name: string }
  | { readonly kind: 'call'; readonly name: string; readonly parts: readonly Expression[] }
  | { readonly kind: 'tuple'; readonly parts: readonly Expression[] }
  | { readonly kind: 'lambda'; readonly parameter: string; readonly body: Expression }
  | {
      readonly kind: 'operation';
      readonly sign: string;
      readonly left: Expression;
      readonly right: Expression;
    };

interface SelectedColumn {
  readonly expression: Expression;
  readonly alias: string | null;
}

export interface SelectQuery {
  readonly isDistinct: boolean;
  readonly columns: readonly SelectedColumn[];
  readonly from: string | null;
  readonly isFinal: boolean;
  readonly where: Expression | null;
  readonly groupBy: readonly Expression[];
  readonly orderBy: readonly { readonly expression: Expression; readonly isDescending: boolean }[];
  readonly limitBy: { readonly count: Expression; readonly by: readonly Expression[] } | null;
  readonly limit: Expression | null;
}

/** How strongly operators bind, the weakest first. */
const strengths: readonly (readonly string[])[] = [
  ['OR'],
  ['AND'],
  ['=', '!=', '<', '<=', '>', '>=', 'IN'],
  ['+', '-'],
  ['*', '/'],
];

/** Reads one statement from its tokens. */
export function readSql(sql: string) {
  const tokens = splitTokens(sql);
  let at = 0;
  const peek = () => tokens[at] as Token;
  const isNext = (word: string) => {
    const { kind, value } = peek();
    return (kind === 'word' || kind === 'sign') && value.toUpperCase() === word;
  };
  const take = (word: string) => {
    if (!isNext(word)) return false;
    at++;
    return true;
  };
  const expect = (word: string) => {
    if (!take(word))
      throw new Error(`the simulated database expects ${word} before "${peek().value}" in: ${sql}`);
  };
  const takeBy = (word: string) => {
    const isTaken = take(word);
    if (isTaken) expect('BY');
    return isTaken;
  };
  const name = () => {
    const token = peek();
    if (token.kind !== 'word') throw new Error(`the simulated database expects a name in: ${sql}`);
    at++;
    return token.value;
  };

  function list(): Expression[] {
    const items = [expression()];
    while (take(',')) items.push(expression());
    return items;
  }

  function expression(level = 0): Expression {
    const signs = strengths[level];
    if (signs === undefined) return operand();
    let left = expression(level + 1);
    for (;;) {
      const sign = signs.find(isNext);
      if (sign === undefined) return left;
      at++;
      left = { kind: 'operation', sign, left, right: expression(level + 1) };
    }
  }

  function operand(): Expression {
    const { kind, value } = peek();
    if (take('-')) {
      const right = operand();
      return { kind: 'operation', sign: '-', left: { kind: 'literal', value: 0 }, right };
    }
    if (take('(')) return parenthesis();
    at++;
    if (kind === 'number') return { kind: 'literal', value: Number(value) };
    if (kind === 'text') return { kind: 'literal', value };
    if (kind === 'parameter') return { kind: 'parameter', name: value };
    if (kind !== 'word' && value !== '*')
      throw new Error(`the simulated database cannot read "${value}" in: ${sql}`);
    if (take('(')) {
      if (take(')')) return { kind: 'call', name: value, parts: [] };
      const parts = list();
      expect(')');
      return { kind: 'call', name: value, parts };
    }
    if (take('->')) return { kind: 'lambda', parameter: value, body: expression() };
    if (value === 'true' || value === 'false') return { kind: 'literal', value: value === 'true' ? 1 : 0 };
    return { kind: 'column', name: value };
  }

  function parenthesis(): Expression {
    const parts = list();
    expect(')');
    return parts.length === 1 ? (parts[0] as Expression) : { kind: 'tuple', parts };
  }

  function select(): SelectQuery {
    expect('SELECT');
    const isDistinct = take('DISTINCT');
    const columns: SelectedColumn[] = [];
    do {
      const selected = expression();
      columns.push({ expression: selected, alias: take('AS') ? name() : null });
    } while (take(','));
    const from = take('FROM') ? name() : null;
    const isFinal = take('FINAL');
    const where = take('WHERE') ? expression() : null;
    const groupBy = takeBy('GROUP') ? list() : [];
    const orderBy: { expression: Expression; isDescending: boolean }[] = [];
    if (takeBy('ORDER')) {
      do {
        const ordered = expression();
        orderBy.push({ expression: ordered, isDescending: take('DESC') });
      } while (take(','));
    }
    let limitBy: SelectQuery['limitBy'] = null;
    let limit: Expression | null = null;
    while (take('LIMIT')) {
      const count = expression();
      if (take('BY')) limitBy = { count, by: list() };
      else limit = count;
    }
    return { isDistinct, columns, from, isFinal, where, groupBy, orderBy, limitBy, limit };
  }

  return { expression, select };
}
