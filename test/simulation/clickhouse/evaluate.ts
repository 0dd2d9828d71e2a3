import type { Expression } from './sqlParser.ts';

/** Value of a column or an expression. */
export type SqlValue = string | number | bigint | null | readonly SqlValue[];

/** Everything that an expression may refer to. */
export interface Scope {
  /** Value of a column by its name. */
  column(name: string): SqlValue;
  readonly parameters: Readonly<Record<string, unknown>>;
  /** Remembered keys of lists after `IN`, which are the same for each row. */
  readonly lists?: Map<Expression, ReadonlySet<string>>;
}

/** Rows of a group, for functions of all of them. */
export type Group = readonly Scope[];

const aggregates: Readonly<Record<string, (parts: readonly Expression[], group: Group) => SqlValue>> = {
  count: (_, group) => group.length,
  max: ([part], group) => extreme(values(part, group), 1),
  min: ([part], group) => extreme(values(part, group), -1),
  sum: ([part], group) =>
    values(part, group).reduce<bigint>((sum, value) => BigInt.asUintN(64, sum + BigInt(value as number)), 0n),
};

function values(part: Expression | undefined, group: Group): SqlValue[] {
  if (part === undefined) throw new Error('a function of a group needs an argument');
  return group.map((scope) => evaluate(part, scope));
}

/** 0 without values, as in ClickHouse for columns that cannot be null. */
function extreme(all: readonly SqlValue[], sign: 1 | -1): SqlValue {
  let best: SqlValue | undefined;
  for (const value of all) if (best === undefined || compare(value, best) * sign > 0) best = value;
  return best ?? 0;
}

const functions: Readonly<Record<string, (...parts: SqlValue[]) => SqlValue>> = {
  currentDatabase: () => 'default',
  version: () => '25.3.1.1',
  // Times are kept in milliseconds.
  fromUnixTimestamp64Milli: (ms: SqlValue = null) => ms,
  toUnixTimestamp64Milli: (ms: SqlValue = null) => ms,
  toString: (value: SqlValue = null) => (value === null ? null : String(value)),
  ifNull: (value: SqlValue = null, other: SqlValue = null) => value ?? other,
  intDiv: (dividend, divisor) => Math.trunc(Number(dividend) / Number(divisor)),
  toYYYYMM: (ms) => {
    const time = new Date(Number(ms));
    return time.getUTCFullYear() * 100 + time.getUTCMonth() + 1;
  },
  // Not ClickHouse's own digest: only equality matters.
  cityHash64: (...parts) => digest(parts.map(String).join('\u0001')),
  arrayStringConcat: (list: SqlValue = [], separator: SqlValue = '') =>
    (list as readonly SqlValue[]).map(String).join(String(separator)),
  has: (list: SqlValue = [], item: SqlValue = null) => ((list as readonly SqlValue[]).includes(item) ? 1 : 0),
  arrayZip: (...lists) =>
    (lists[0] as readonly SqlValue[]).map((_, at) =>
      lists.map((list) => (list as readonly SqlValue[])[at] as SqlValue),
    ),
};

export function isAggregate(expression: Expression): boolean {
  if (expression.kind === 'call')
    return Object.hasOwn(aggregates, expression.name) || expression.parts.some(isAggregate);
  if (expression.kind === 'operation') return isAggregate(expression.left) || isAggregate(expression.right);
  return false;
}

/** Value of an expression for a row, or for a group and its first row. */
export function evaluate(expression: Expression, scope: Scope, group?: Group): SqlValue {
  switch (expression.kind) {
    case 'literal':
      return expression.value;
    case 'column':
      return scope.column(expression.name);
    case 'parameter': {
      const value = scope.parameters[expression.name];
      if (value === undefined) throw new Error(`the parameter ${expression.name} is not given`);
      return value as SqlValue;
    }
    case 'tuple':
      return expression.parts.map((part) => evaluate(part, scope, group));
    case 'lambda':
      throw new Error('a lambda has no value of its own');
    case 'operation':
      return operate(expression, scope, group);
    case 'call': {
      const aggregate = Object.hasOwn(aggregates, expression.name) ? aggregates[expression.name] : undefined;
      if (aggregate !== undefined) {
        if (group === undefined) throw new Error(`${expression.name} outside of a group`);
        return aggregate(expression.parts, group);
      }
      if (expression.name === 'arrayMap') return mapArray(expression.parts, scope);
      const known = functions[expression.name];
      if (known === undefined) throw new Error(`the simulated database has no function ${expression.name}`);
      return known(...expression.parts.map((part) => evaluate(part, scope, group)));
    }
  }
}

function mapArray([lambda, list]: readonly Expression[], scope: Scope): SqlValue {
  if (lambda?.kind !== 'lambda' || list === undefined)
    throw new Error('arrayMap needs a lambda and an array');
  return (evaluate(list, scope) as readonly SqlValue[]).map((item) =>
    evaluate(lambda.body, {
      ...scope,
      column: (name) => (name === lambda.parameter ? item : scope.column(name)),
    }),
  );
}

function operate(
  { sign, left, right }: Extract<Expression, { kind: 'operation' }>,
  scope: Scope,
  group?: Group,
): SqlValue {
  const first = evaluate(left, scope, group);
  if (sign === 'IN') return findKeys(right, scope).has(keyOf(first)) ? 1 : 0;
  if (sign === 'AND') return isTrue(first) && isTrue(evaluate(right, scope, group)) ? 1 : 0;
  if (sign === 'OR') return isTrue(first) || isTrue(evaluate(right, scope, group)) ? 1 : 0;
  const second = evaluate(right, scope, group);
  switch (sign) {
    case '+':
      return Number(first) + Number(second);
    case '-':
      return Number(first) - Number(second);
    case '*':
      return Number(first) * Number(second);
    default:
      return holds(sign, compare(first, second)) ? 1 : 0;
  }
}

/** A list after `IN` consists of literals and parameters, so it is the same for each row. */
function findKeys(list: Expression, scope: Scope): ReadonlySet<string> {
  const known = scope.lists?.get(list);
  if (known !== undefined) return known;
  const value = evaluate(list, { ...scope, column: refuseColumn });
  const keys = new Set(((Array.isArray(value) ? value : [value]) as readonly SqlValue[]).map(keyOf));
  scope.lists?.set(list, keys);
  return keys;
}

function refuseColumn(name: string): never {
  throw new Error(`the simulated database cannot read ${name} behind IN`);
}

/** The same for values that are equal. */
function keyOf(value: SqlValue): string {
  if (value === null) return '\u0002';
  return Array.isArray(value) ? value.map(keyOf).join('\u0001') : String(value);
}

function holds(sign: string, order: number): boolean {
  if (sign === '=') return order === 0;
  if (sign === '!=') return order !== 0;
  if (sign === '<') return order < 0;
  if (sign === '<=') return order <= 0;
  if (sign === '>') return order > 0;
  return order >= 0;
}

/** Negative, 0 or positive; tuples by their first difference, nulls last. */
export function compare(one: SqlValue, other: SqlValue): number {
  if (Array.isArray(one) && Array.isArray(other)) {
    for (const [at, value] of one.entries()) {
      const order = compare(value as SqlValue, other[at] as SqlValue);
      if (order !== 0) return order;
    }
    return 0;
  }
  if (one === null || other === null) return one === other ? 0 : one === null ? 1 : -1;
  if (typeof one === 'string' && typeof other === 'string') return one < other ? -1 : one > other ? 1 : 0;
  const [a, b] = [toNumber(one), toNumber(other)];
  return a < b ? -1 : a > b ? 1 : 0;
}

function toNumber(value: SqlValue): number | bigint {
  if (typeof value === 'number' || typeof value === 'bigint') return value;
  return Number(value);
}

export function isTrue(value: SqlValue): boolean {
  return value !== null && value !== 0 && value !== 0n && value !== '';
}

/** 64 bits of FNV-1a. */
function digest(text: string): bigint {
  let high = 0xcbf29ce4;
  let low = 0x84222325;
  for (let index = 0; index < text.length; index++) {
    low ^= text.charCodeAt(index);
    const product = Math.imul(low, 0x1b3) >>> 0;
    high = (Math.imul(high, 0x1b3) + Math.floor(((low >>> 0) * 0x1b3) / 0x100000000) + (low << 8)) >>> 0;
    low = product;
  }
  return (BigInt(high) << 32n) | BigInt(low >>> 0);
}
