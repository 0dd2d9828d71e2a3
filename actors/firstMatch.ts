/** A row of an ordered table: what holds when the condition does, and no row before it. */
export type Row<Input, Result> = readonly [result: Result, holds: (input: Input) => boolean];

export function otherwise(): boolean {
  return true;
}

/** The result of the first row that holds. The last row of a table always does (`otherwise`). */
export function findFirstMatch<Input, Result>(table: readonly Row<Input, Result>[], input: Input): Result {
  for (const [result, holds] of table) if (holds(input)) return result;
  throw new Error('no row of the table holds: its last one has to be `otherwise`');
}
