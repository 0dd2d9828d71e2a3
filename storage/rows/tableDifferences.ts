import { dayMs } from '../../actors/schemas/durations.ts';
import type { Database, RowCondition } from '../clickhouse/database.ts';
import type { Table } from '../definition/table.ts';
import { type LineageRuns, openEnd, selectMessages } from '../runs/lineages.ts';
import { readings } from '../tables/readings.ts';
import type { RowTable } from '../tables/rowTables.ts';
import { selectNotOlder } from './readingsTtl.ts';

export interface ComparedRows {
  /** Runs of the stored rows that count. */
  readonly stored: LineageRuns;
  /** Runs that a fold has filled with the rows of the compared messages. */
  readonly folded: LineageRuns;
  /** The rows of messages after one through another are compared. */
  readonly after: number;
  readonly through: number;
  /** Readings received before this time may be gone (epoch milliseconds); null if none may. */
  readonly goneBeforeMs: number | null;
}

/** How the stored rows of a table differ from the rows that a fold makes. */
export type TableDifference = Awaited<ReturnType<typeof compareTable>>;

/** Compares the rows of a table in two lineages. Days with different digests are compared row by row. */
export async function compareTable(database: Database, rowTable: RowTable, compared: ComparedRows) {
  const { definition } = rowTable;
  const stored = selectRange(selectMessages(compared.stored, compared), rowTable, compared);
  const ofFolded = selectMessages(compared.folded, compared, compared.stored.length);
  const folded = selectRange(ofFolded, rowTable, compared);
  const day = `intDiv(toUnixTimestamp64Milli(${definition.timeColumn}), ${dayMs})`;
  const sum = (condition: RowCondition) => sumDays(database, { definition, condition, day });
  const [storedDays, foldedDays] = [await sum(stored), await sum(folded)];
  const found = { foreign: 0, missing: 0, firstMessage: Number.POSITIVE_INFINITY };
  for (const key of new Set([...storedDays.keys(), ...foldedDays.keys()])) {
    const [one, other] = [storedDays.get(key), foldedDays.get(key)];
    if (one?.count === other?.count && one?.digest === other?.digest) continue;
    const selectSide = ({ sql }: RowCondition, weight: 1 | -1) =>
      `SELECT ${digestRow(definition)} AS digest, stored_by AS message, ${weight} AS weight
       FROM ${selectOnce(definition, `${sql} AND ${day} = {day:Int64}`)}`;
    const [row = []] = await database.select(
      `SELECT countIf(balance > 0), countIf(balance < 0), min(first) FROM (
         SELECT sum(weight) AS balance, min(message) AS first
         FROM (${selectSide(stored, 1)} UNION ALL ${selectSide(folded, -1)})
         GROUP BY digest HAVING balance != 0)`,
      { ...stored.parameters, ...folded.parameters, day: Number(key) },
    );
    const [foreign = 0, missing = 0, firstMessage = 0] = row.map(Number);
    found.foreign += foreign;
    found.missing += missing;
    found.firstMessage = Math.min(found.firstMessage, firstMessage);
  }
  return {
    table: definition.name,
    /** Stored rows that the fold does not make. */
    foreign: found.foreign,
    /** Rows of the fold that are not stored. A changed row is both foreign and missing. */
    missing: found.missing,
    /** Rows of the fold. */
    rows: [...foldedDays.values()].reduce((total, { count }) => total + count, 0),
    /** First message of a row that differs; null if none does. */
    firstMessage: Number.isFinite(found.firstMessage) ? found.firstMessage : null,
  };
}

/** Selects the rows that both lineages have if nothing is wrong. */
function selectRange(
  { sql, parameters }: RowCondition,
  { definition }: RowTable,
  { goneBeforeMs }: ComparedRows,
): RowCondition {
  const mayBeGone = definition.name === readings.name;
  const notOlder = selectNotOlder('received_at', mayBeGone ? goneBeforeMs : null);
  return { sql: `${sql}${notOlder.sql}`, parameters: { ...parameters, ...notOlder.parameters } };
}

/** Counts the stored rows of messages after the last compared one. */
export async function countLaterRows(
  database: Database,
  { definition }: RowTable,
  { stored, through }: Pick<ComparedRows, 'stored' | 'through'>,
): Promise<number> {
  const { sql, parameters } = selectMessages(stored, { after: through, through: openEnd });
  const [row] = await database.select(
    `SELECT count() FROM ${definition.name} FINAL WHERE ${sql}`,
    parameters,
  );
  return Number(row?.[0]);
}

type Definition = Pick<Table<unknown>, 'name' | 'storedColumns' | 'identity'>;

interface SummedDays {
  readonly definition: Definition;
  readonly condition: RowCondition;
  /** SQL of a row's day. */
  readonly day: string;
}

interface DaySum {
  readonly count: number;
  /** Sum of the rows' digests, modulo 2^64. */
  readonly digest: bigint;
}

const digestModulus = 2n ** 64n;

/**
 * Counts the rows of each day and sums their digests. Equal sums mean equal rows. Reads one partition at a time, so that no statement takes long.
 *
 * @returns the sums by day.
 */
async function sumDays(
  database: Database,
  { definition, condition, day }: SummedDays,
): Promise<ReadonlyMap<string, DaySum>> {
  const partitions = await database.select(
    `SELECT DISTINCT _partition_id FROM ${definition.name} WHERE ${condition.sql}`,
    condition.parameters,
  );
  const sums = new Map<string, DaySum>();
  for (const [partition] of partitions) {
    const rows = await database.select(
      `SELECT ${day}, count(), toString(sum(${digestRow(definition)}))
       FROM ${selectOnce(definition, `_partition_id = {partition:String} AND ${condition.sql}`)}
       GROUP BY ${day}`,
      { ...condition.parameters, partition: String(partition) },
    );
    for (const [key, count, digest] of rows) {
      // Rows of a day may lie in two partitions.
      const known = sums.get(String(key)) ?? { count: 0, digest: 0n };
      sums.set(String(key), {
        count: known.count + Number(count),
        digest: (known.digest + BigInt(String(digest))) % digestModulus,
      });
    }
  }
  return sums;
}

/** SQL of a row's digest over all columns, which leaves out who stored the row, and when. */
function digestRow({ storedColumns }: Definition): string {
  const columns = storedColumns.filter(({ name }) => name !== 'run' && name !== 'stored_by');
  // A digest over a null would itself be null. No text contains this substitute.
  const values = columns.map(({ name, type }) =>
    type.includes('Nullable') ? `ifNull(toString(${name}), '\\\\0')` : name,
  );
  return `cityHash64(${values.join(', ')})`;
}

/** The rows that meet a condition, each once. */
function selectOnce(
  { name, identity }: Pick<Table<unknown>, 'name' | 'identity'>,
  condition: string,
): string {
  if (identity === null) return `${name} FINAL WHERE ${condition}`;
  return `(SELECT * FROM ${name} FINAL WHERE ${condition} LIMIT 1 BY ${identity.join(', ')})`;
}
