import { dayMs } from '../actors/schemas/durations.ts';
import type { Database, RowCondition } from './database.ts';
import { isSameSum, sumDigests } from './digestSums.ts';
import { selectVisible, type VisibleRuns } from './lineages.ts';
import { digestRow } from './rowDigest.ts';
import { selectNotOlder } from './rowsTtl.ts';
import { messageColumnOf, type RowTable } from './rowTables.ts';
import { measurementEvents } from './tables/events.ts';
import type { Tables } from './tables.ts';

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

interface ComparedTables {
  readonly stored: Tables;
  /** Tables that a fold has filled with the rows of the compared messages. */
  readonly folded: Tables;
  /** The rows of messages after one through another are compared. */
  readonly after: number;
  readonly through: number;
  /** Runs of the stored rows that count; null for a stream without lineages. */
  readonly runs: VisibleRuns | null;
  /** Stored rows before this time may be gone (epoch milliseconds); null if none may. */
  readonly goneBeforeMs: number | null;
}

/** Compares a table in two places. Days with different digests are compared row by row. */
export async function compareTable(
  database: Database,
  rowTable: RowTable,
  compared: ComparedTables,
): Promise<TableDifference> {
  const { definition, agesBy, resolveName } = rowTable;
  const condition = await selectCompared(database, rowTable, compared);
  const visible = compared.runs === null ? everyRow : selectVisible(compared.runs);
  const stored = { table: resolveName(compared.stored), condition: joinConditions(condition, visible) };
  const folded = { table: resolveName(compared.folded), condition };
  const time = definition.timeColumn ?? agesBy ?? 'block_timestamp';
  const day = `intDiv(toUnixTimestamp64Milli(${time}), ${dayMs})`;
  const sum = (side: Side) => sumDigests(database, { ...side, definition }, { day });
  const [storedDays, foldedDays] = [await sum(stored), await sum(folded)];
  const found = { foreign: 0, missing: 0, firstMessage: Number.POSITIVE_INFINITY };
  for (const key of new Set([...storedDays.keys(), ...foldedDays.keys()])) {
    if (isSameSum(storedDays.get(key), foldedDays.get(key))) continue;
    const selectSide = ({ table, condition: { sql } }: Side, weight: 1 | -1) =>
      `SELECT ${digestRow(definition)} AS digest, ${messageColumnOf(rowTable)} AS message, ${weight} AS weight
       FROM ${table} FINAL WHERE ${sql} AND ${day} = {day:Int64}`;
    const [row = []] = await database.select(
      `SELECT countIf(balance > 0), countIf(balance < 0), min(first) FROM (
         SELECT sum(weight) AS balance, min(message) AS first
         FROM (${selectSide(stored, 1)} UNION ALL ${selectSide(folded, -1)})
         GROUP BY digest HAVING balance != 0)`,
      { ...stored.condition.parameters, day: Number(key) },
    );
    const [foreign = 0, missing = 0, firstMessage = 0] = row.map(Number);
    found.foreign += foreign;
    found.missing += missing;
    found.firstMessage = Math.min(found.firstMessage, firstMessage);
  }
  return {
    ...found,
    table: stored.table,
    rows: [...foldedDays.values()].reduce((total, { count }) => total + count, 0),
    firstMessage: Number.isFinite(found.firstMessage) ? found.firstMessage : null,
  };
}

interface Side {
  readonly table: string;
  readonly condition: RowCondition;
}

const everyRow: RowCondition = { sql: 'true', parameters: {} };

function joinConditions(one: RowCondition, other: RowCondition): RowCondition {
  return { sql: `${one.sql} AND ${other.sql}`, parameters: { ...one.parameters, ...other.parameters } };
}

/** Counts the stored rows of messages after one, through which tables are compared. */
export async function countLaterRows(
  database: Database,
  rowTable: RowTable,
  { stored, through, runs }: Pick<ComparedTables, 'stored' | 'through' | 'runs'>,
): Promise<number> {
  const later = { sql: `${messageColumnOf(rowTable)} > {through:UInt64}`, parameters: { through } };
  const { sql, parameters } = joinConditions(later, runs === null ? everyRow : selectVisible(runs));
  const [row = []] = await database.select(
    `SELECT count() FROM ${rowTable.resolveName(stored)} WHERE ${sql}`,
    parameters,
  );
  return Number(row[0]);
}

/** Selects the rows that both places have if nothing is wrong. */
async function selectCompared(
  database: Database,
  rowTable: RowTable,
  { folded, after, through, runs, goneBeforeMs }: ComparedTables,
): Promise<RowCondition> {
  const { definition, agesBy, resolveName } = rowTable;
  const notOlder = agesBy === null ? selectNotOlder('', null) : selectNotOlder(agesBy, goneBeforeMs);
  // Nobody reads the rows of other runs.
  const ofRun =
    runs === null && definition.columns.includes('run')
      ? ` AND run IN (SELECT run FROM ${resolveName(folded)})`
      : '';
  const conditions = `${ofRun}${notOlder.sql}`;
  if (!isOfMeasurements(rowTable)) {
    const column = messageColumnOf(rowTable);
    return {
      sql: `${column} > {after:UInt64} AND ${column} <= {through:UInt64}${conditions}`,
      parameters: { after, through, ...notOlder.parameters },
    };
  }
  // An event has the position of its own message. A later message evicts it from memory, and so stores it. They are evicted in order.
  const { events } = folded.measurementEvents;
  const findEnd = async (order: 'ASC' | 'DESC') => {
    const [row = [0, 0]] = await database.select(
      `SELECT position, ordinal FROM ${events} ORDER BY position ${order}, ordinal ${order} LIMIT 1`,
    );
    return row.map(Number);
  };
  // Before the first event of the whole stream there is none.
  const [firstPosition = 0, firstOrdinal = 0] = after === 0 ? [] : await findEnd('ASC');
  const [lastPosition = 0, lastOrdinal = 0] = await findEnd('DESC');
  return {
    sql: `(position, ordinal) >= ({firstPosition:UInt64}, {firstOrdinal:UInt64})
          AND (position, ordinal) <= ({lastPosition:UInt64}, {lastOrdinal:UInt64})${conditions}`,
    parameters: { firstPosition, firstOrdinal, lastPosition, lastOrdinal, ...notOlder.parameters },
  };
}

function isOfMeasurements({ definition }: RowTable): boolean {
  return Object.values(measurementEvents).some(({ name }) => name === definition.name);
}
