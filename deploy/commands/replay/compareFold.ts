import { createHash } from 'node:crypto';
import type { InputStreamName } from '../../../actors/messages/subjects.ts';
import { dayMs } from '../../../actors/schemas/durations.ts';
import type { Database } from '../../../storage/clickhouse/database.ts';
import { readReadingsGoneBeforeMs } from '../../../storage/rows/readingsTtl.ts';
import {
  type ComparedRows,
  compareTable,
  countLaterRows,
  type TableDifference,
} from '../../../storage/rows/tableDifferences.ts';
import type { SnapshotStore } from '../../../storage/snapshots/snapshots.ts';
import type { StoredSnapshotHeader } from '../../../storage/tables/foldSnapshot.ts';
import { rowTablesOf } from '../../../storage/tables/rowTables.ts';
import { systemClock } from '../../process/systemClock.ts';

/** Records that one line names. */
const recordsNamed = 5;

/** What a comparison has found, in lines. */
interface Comparison {
  readonly lines: readonly string[];
  /** First message from which something differs; null if nothing does. */
  readonly differsFrom: number | null;
}

/** Compares the rows that count with the rows of a fold, table by table. */
export async function compareRows(
  database: Database,
  stream: InputStreamName,
  range: Omit<ComparedRows, 'goneBeforeMs'>,
): Promise<Comparison> {
  const gone = await readReadingsGoneBeforeMs(database, systemClock.nowMs());
  // ClickHouse removes rows up to two days later, and by whole days.
  const compared = { ...range, goneBeforeMs: gone === null ? null : gone + 2 * dayMs };
  const differences: TableDifference[] = [];
  let later = 0;
  for (const table of rowTablesOf(stream)) {
    differences.push(await compareTable(database, table, compared));
    later += await countLaterRows(database, table, compared);
  }
  const same = differences.filter(({ firstMessage }) => firstMessage === null);
  const differing = differences.flatMap(({ firstMessage, ...rest }) =>
    firstMessage === null ? [] : [{ ...rest, firstMessage }],
  );
  const lines = differing.map(
    ({ table, rows, foreign, missing, firstMessage }) =>
      `${table} differs: ${missing} of ${rows} rows are missing, and ${foreign} rows are there that the stream does not make; the first of them is of message ${firstMessage}`,
  );
  if (same.length > 0)
    lines.push(`rows as folded again: ${same.map(({ table, rows }) => `${rows} of ${table}`).join(', ')}`);
  if (later > 0)
    lines.push(
      `not compared: ${later} rows of messages after ${range.through}, the message of the newest saved state`,
    );
  return {
    lines,
    differsFrom:
      differing.length === 0 ? null : Math.min(...differing.map(({ firstMessage }) => firstMessage)),
  };
}

/** Digests of the records of a state, by kind and key. */
export type RecordDigests = ReadonlyMap<string, string>;

/** Compares a saved state with the state of a fold at the same message. */
export function compareStates(saved: RecordDigests, folded: RecordDigests): Comparison {
  const differing = [...new Set([...saved.keys(), ...folded.keys()])].filter(
    (record) => saved.get(record) !== folded.get(record),
  );
  if (differing.length === 0)
    return { lines: [`state as folded again: ${folded.size} records`], differsFrom: null };
  const named = differing.slice(0, recordsNamed).join(', ');
  const others = differing.length > recordsNamed ? ' and others' : '';
  const line = `the state differs: ${differing.length} of ${folded.size} records, ${named}${others}`;
  return { lines: [line], differsFrom: 1 };
}

/** Digests the records of a state: two states of years would not fit into memory. */
export async function digestRecords(
  snapshots: Pick<SnapshotStore, 'read'>,
  header: StoredSnapshotHeader,
): Promise<RecordDigests> {
  const digests = new Map<string, string>();
  for await (const records of snapshots.read(header))
    for (const { kind, key, value } of records)
      digests.set(`${kind} ${key}`, createHash('sha256').update(sortMembers(value)).digest('base64'));
  return digests;
}

/** The same JSON in one form: a fold keeps a restored value in the order of members in which it was saved. */
function sortMembers(json: string): string {
  return JSON.stringify(JSON.parse(json), (_name, member: unknown) =>
    typeof member === 'object' && member !== null && !Array.isArray(member)
      ? Object.fromEntries(Object.entries(member).sort(([a], [b]) => (a < b ? -1 : 1)))
      : member,
  );
}
