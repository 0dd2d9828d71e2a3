/** A row of an ordered table: a result and its condition. */
export type Row<Input, Result> = readonly [result: Result, holds: (input: Input) => boolean];

export function otherwise(): boolean {
  return true;
}

/** Result of the first row whose condition holds. The last row must hold always (`otherwise`). */
export function findFirstMatch<Input, Result>(table: readonly Row<Input, Result>[], input: Input): Result {
  for (const [result, holds] of table) if (holds(input)) return result;
  throw new Error('no row of the table holds: its last one has to be `otherwise`');
}
