import type { Database, RowCondition } from '../clickhouse/database.ts';
import type { ResultCell } from '../definition/column.ts';
import type { Table } from '../definition/table.ts';

const digestModulus = 2n ** 64n;

/** Some rows of a table. */
interface SummedRows {
  readonly definition: Pick<Table<unknown>, 'name' | 'storedColumns' | 'identity'>;
  readonly condition: RowCondition;
}

/** Rows with the same values of some expressions. */
export interface DigestSum {
  readonly values: readonly ResultCell[];
  readonly count: number;
  /** Sum of the rows' digests, modulo 2^64. */
  readonly digest: bigint;
}

/** Whether two sums are of equal rows; undefined is the sum of none. */
export function isSameSum(one: DigestSum | undefined, other: DigestSum | undefined): boolean {
  return one?.count === other?.count && one?.digest === other?.digest;
}

/**
 * Counts rows and sums their digests, for each combination of values of some SQL expressions. Equal sums mean equal rows. Reads one
 * partition at a time, so that no statement takes long.
 *
 * @returns the sums by the text of their values.
 */
export async function sumDigests(
  database: Database,
  { definition, condition }: SummedRows,
  expressions: readonly string[],
): Promise<ReadonlyMap<string, DigestSum>> {
  const list = expressions.join(', ');
  const partitions = await database.select(
    `SELECT DISTINCT _partition_id FROM ${definition.name} WHERE ${condition.sql}`,
    condition.parameters,
  );
  const sums = new Map<string, DigestSum>();
  for (const [partition] of partitions) {
    const rows = await database.select(
      `SELECT ${list}, count(), toString(sum(${digestRow(definition)}))
       FROM ${selectOnce(definition, `_partition_id = {partition:String} AND ${condition.sql}`)}
       GROUP BY ${list}`,
      { ...condition.parameters, partition: String(partition) },
    );
    for (const row of rows) {
      const values = row.slice(0, expressions.length);
      const [count, digest] = row.slice(expressions.length);
      const key = values.join(' ');
      // Rows with the same values may lie in two partitions.
      const known = sums.get(key) ?? { count: 0, digest: 0n };
      sums.set(key, {
        values,
        count: known.count + Number(count),
        digest: (known.digest + BigInt(String(digest))) % digestModulus,
      });
    }
  }
  return sums;
}

/** SQL of a row's digest over all columns, which leaves out who stored the row, and when. */
export function digestRow({ storedColumns }: SummedRows['definition']): string {
  const columns = storedColumns.filter(({ name }) => name !== 'run' && name !== 'stored_by');
  // A digest over a null would itself be null. No text contains this substitute.
  const values = columns.map(({ name, type }) =>
    type.includes('Nullable') ? `ifNull(toString(${name}), '\\\\0')` : name,
  );
  return `cityHash64(${values.join(', ')})`;
}

/** The rows that meet a condition, each once. */
export function selectOnce(
  { name, identity }: Pick<Table<unknown>, 'name' | 'identity'>,
  condition: string,
): string {
  if (identity === null) return `${name} FINAL WHERE ${condition}`;
  return `(SELECT * FROM ${name} FINAL WHERE ${condition} LIMIT 1 BY ${identity.join(', ')})`;
}
