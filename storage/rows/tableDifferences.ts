import { dayMs } from '../../actors/schemas/durations.ts';
import type { Database, RowCondition } from '../clickhouse/database.ts';
import { openEnd, selectMessages, type VisibleRuns } from '../runs/lineages.ts';
import { readings } from '../tables/readings.ts';
import type { RowTable } from '../tables/rowTables.ts';
import { digestRow, isSameSum, selectOnce, sumDigests } from './digestSums.ts';
import { selectNotOlder } from './readingsTtl.ts';

/** How the stored rows of a table differ from the rows that a fold makes. */
export interface TableDifference {
  readonly table: string;
  /** Rows of the fold. */
  readonly rows: number;
  /** Stored rows that the fold does not make. */
  readonly foreign: number;
  /** Rows of the fold that are not stored. A changed row is both foreign and missing. */
  readonly missing: number;
  /** First message of a row that differs; null if none does. */
  readonly firstMessage: number | null;
}

interface ComparedRows {
  /** Runs of the stored rows that count. */
  readonly stored: VisibleRuns;
  /** Runs that a fold has filled with the rows of the compared messages. */
  readonly folded: VisibleRuns;
  /** The rows of messages after one through another are compared. */
  readonly after: number;
  readonly through: number;
  /** Readings received before this time may be gone (epoch milliseconds); null if none may. */
  readonly goneBeforeMs: number | null;
}

/** Compares the rows of a table in two histories. Days with different digests are compared row by row. */
export async function compareTable(
  database: Database,
  rowTable: RowTable,
  compared: ComparedRows,
): Promise<TableDifference> {
  const { definition } = rowTable;
  const stored = selectRange(selectMessages(compared.stored, compared), rowTable, compared);
  const ofFolded = selectMessages(compared.folded, compared, compared.stored.length);
  const folded = selectRange(ofFolded, rowTable, compared);
  const day = `intDiv(toUnixTimestamp64Milli(${definition.timeColumn}), ${dayMs})`;
  const sum = (condition: RowCondition) => sumDigests(database, { definition, condition }, [day]);
  const [storedDays, foldedDays] = [await sum(stored), await sum(folded)];
  const found = { foreign: 0, missing: 0, firstMessage: Number.POSITIVE_INFINITY };
  for (const key of new Set([...storedDays.keys(), ...foldedDays.keys()])) {
    if (isSameSum(storedDays.get(key), foldedDays.get(key))) continue;
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
    ...found,
    table: definition.name,
    rows: [...foldedDays.values()].reduce((total, { count }) => total + count, 0),
    firstMessage: Number.isFinite(found.firstMessage) ? found.firstMessage : null,
  };
}

/** Selects the rows that both histories have if nothing is wrong. */
function selectRange(
  { sql, parameters }: RowCondition,
  { definition }: RowTable,
  { goneBeforeMs }: ComparedRows,
): RowCondition {
  const mayBeGone = definition.name === readings.name;
  const notOlder = selectNotOlder('received_at', mayBeGone ? goneBeforeMs : null);
  return { sql: `${sql}${notOlder.sql}`, parameters: { ...parameters, ...notOlder.parameters } };
}

/** Counts the stored rows of messages after one, through which tables are compared. */
export function countLaterRows(
  database: Database,
  { definition }: RowTable,
  { stored, through }: Pick<ComparedRows, 'stored' | 'through'>,
): Promise<number> {
  const later = selectMessages(stored, { after: through, through: openEnd });
  return countRows(database, definition.name, later);
}

/** Counts the rows that meet a condition, each once. */
export async function countRows(
  database: Database,
  table: string,
  { sql, parameters }: RowCondition,
): Promise<number> {
  const [row] = await database.select(`SELECT count() FROM ${table} FINAL WHERE ${sql}`, parameters);
  return Number(row?.[0]);
}
