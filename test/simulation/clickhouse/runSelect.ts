import { compare, evaluate, type Group, isAggregate, isTrue, type Scope, type SqlValue } from './evaluate.ts';
import type { Expression, SelectQuery } from './sqlParser.ts';

/** Rows that a query is run over, by the name of their table. */
export interface QueriedRows {
  readonly rows: readonly unknown[];
  readColumn(row: unknown, name: string): SqlValue;
}

export interface SelectContext {
  readonly parameters: Readonly<Record<string, unknown>>;
  rowsOf(table: string, isFinal: boolean): QueriedRows;
}

/** Runs a query of the kind that the service uses. */
export function runSelect(query: SelectQuery, context: SelectContext): SqlValue[][] {
  const scopes = findRows(query, context);
  const aliases = new Map(
    query.columns.flatMap(({ alias, expression }) => (alias === null ? [] : [[alias, expression] as const])),
  );
  const resolve = (expression: Expression): Expression =>
    expression.kind === 'column' ? (aliases.get(expression.name) ?? expression) : expression;
  const isGrouped =
    query.groupBy.length > 0 || query.columns.some(({ expression }) => isAggregate(expression));
  const groups: readonly SelectedGroup[] = isGrouped
    ? groupRows(scopes, query.groupBy.map(resolve), context.parameters)
    : scopes.map((scope) => ({ scope }));
  const order = query.orderBy.map(({ expression, isDescending }) => ({
    expression: resolve(expression),
    sign: isDescending ? -1 : 1,
  }));
  const limitedBy = limitBy(query, sortBy(order, groups), context.parameters);
  const rows = limitedBy.map(({ scope, group }) =>
    query.columns.map(({ expression }) => evaluate(expression, scope, group)),
  );
  const distinct = query.isDistinct ? dropRepeated(rows) : rows;
  if (query.limit === null) return distinct;
  return distinct.slice(0, Number(evaluate(query.limit, emptyScope(context.parameters))));
}

interface SelectedGroup {
  readonly scope: Scope;
  readonly group?: Group;
}

function sortBy(
  order: readonly { readonly expression: Expression; readonly sign: number }[],
  groups: readonly SelectedGroup[],
): readonly SelectedGroup[] {
  if (order.length === 0 || groups.length < 2) return groups;
  const keyed = groups.map((one) => ({
    one,
    keys: order.map(({ expression }) => evaluate(expression, one.scope, one.group)),
  }));
  keyed.sort((one, other) => {
    for (const [at, { sign }] of order.entries()) {
      const difference = compare(one.keys[at] as SqlValue, other.keys[at] as SqlValue);
      if (difference !== 0) return difference * sign;
    }
    return 0;
  });
  return keyed.map(({ one }) => one);
}

/** Only selected rows get a scope of their own. */
function findRows(query: SelectQuery, context: SelectContext): Scope[] {
  const { parameters } = context;
  const { where } = query;
  const isSelected = (scope: Scope) => where === null || isTrue(evaluate(where, scope));
  if (query.from === null) return [emptyScope(parameters)].filter(isSelected);
  const { rows, readColumn } = context.rowsOf(query.from, query.isFinal);
  let current: unknown;
  const lists: Scope['lists'] = new Map();
  const probe: Scope = { column: (name) => readColumn(current, name), parameters, lists };
  const scopes: Scope[] = [];
  for (const row of rows) {
    current = row;
    if (isSelected(probe)) scopes.push({ column: (name) => readColumn(row, name), parameters });
  }
  return scopes;
}

function groupRows(
  scopes: readonly Scope[],
  by: readonly Expression[],
  parameters: SelectContext['parameters'],
): { scope: Scope; group: Group }[] {
  if (by.length === 0) return [{ scope: scopes[0] ?? emptyScope(parameters), group: scopes }];
  const groups = new Map<string, Scope[]>();
  for (const scope of scopes) {
    const key = by.map((expression) => String(evaluate(expression, scope))).join('\u0001');
    const group = groups.get(key);
    if (group === undefined) groups.set(key, [scope]);
    else group.push(scope);
  }
  return [...groups.values()].map((group) => ({ scope: group[0] as Scope, group }));
}

function limitBy<Item extends { readonly scope: Scope }>(
  { limitBy: limit }: SelectQuery,
  items: readonly Item[],
  parameters: SelectContext['parameters'],
): readonly Item[] {
  if (limit === null) return items;
  const most = Number(evaluate(limit.count, emptyScope(parameters)));
  const counts = new Map<string, number>();
  return items.filter(({ scope }) => {
    const key = limit.by.map((expression) => String(evaluate(expression, scope))).join('\u0001');
    const count = counts.get(key) ?? 0;
    counts.set(key, count + 1);
    return count < most;
  });
}

function dropRepeated(rows: SqlValue[][]): SqlValue[][] {
  const seen = new Set<string>();
  return rows.filter((row) => {
    const key = row.map(String).join('\u0001');
    if (seen.has(key)) return false;
    seen.add(key);
    return true;
  });
}

function refuse(name: string): never {
  throw new Error(`Code: 47. unknown column ${name}`);
}

function emptyScope(parameters: SelectContext['parameters']): Scope {
  return { column: refuse, parameters };
}
