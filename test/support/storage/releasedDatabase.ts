import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { gunzipSync, gzipSync } from 'node:zlib';
import type { SpanFoldSettings } from '../../../actors/chain/fold/spanFoldState.ts';
import { parse } from '../../../actors/folds/bigintJson.ts';
import { type FoldRecord, parseRecord } from '../../../actors/folds/foldRecord.ts';
import type { InputStreamName } from '../../../actors/messages/subjects.ts';
import type { Database } from '../../../storage/clickhouse/database.ts';
import { migrate } from '../../../storage/migration/migrate.ts';
import { releasedSnapshots } from '../../../storage/migration/releasedSnapshots.ts';
import { createSnapshotStore } from '../../../storage/snapshots/snapshots.ts';
import type { StoredSnapshotHeader } from '../../../storage/tables/foldSnapshot.ts';
import { collectLines } from '../streams/collectLines.ts';
import { createBaseline } from './createBaseline.ts';
import { openForTest } from './openTables.ts';

export type ReleasedRow = Parameters<typeof releasedSnapshots.encode>[0][number];

/**
 * What version 1.0.0 stored of these messages: whole states, and parts with changes and removals, among them those of a reorganization and
 * of evicted activity. It was recorded with the code of that version, which folded and saved the messages.
 */
export const recorded = parse(
  gunzipSync(
    readFileSync(resolve(import.meta.dirname, '../../storage/releasedSnapshots.json.gz')),
  ).toString(),
) as {
  readonly genesisMs: number;
  readonly settings: Omit<SpanFoldSettings, 'retainedFromBlock'>;
  readonly messages: Readonly<
    Record<
      InputStreamName,
      readonly {
        readonly seq: number;
        readonly subject: string;
        readonly text: string;
        readonly storedAtMs: number;
      }[]
    >
  >;
  readonly rows: readonly ReleasedRow[];
};

/** The deployment that the recorded snapshots are of. */
export const deployment = { genesisTimestamp: recorded.genesisMs / 1000, installationId: 'wheel.one' };

/** The table of the recorded snapshots. */
export const snapshotTable = `${releasedSnapshots.name}_g1`;

/** A database as version 1.0 leaves it behind, with its snapshots. */
export async function openReleased(rows = recorded.rows): Promise<Database> {
  const database = openForTest();
  await createBaseline(database);
  for (const row of rows) await database.insertBlocks(snapshotTable, releasedSnapshots.encode([row]));
  return database;
}

/** Migrates a database of that deployment, and returns the lines of the log. */
export async function upgrade(database: Database): Promise<readonly string[]> {
  const { lines, logger } = collectLines('info');
  await migrate(database, logger, deployment);
  return lines;
}

/** The row of a part with a single chunk, with another text. */
export function rewriteReleased(row: ReleasedRow, change: (text: string) => string): ReleasedRow {
  const text = change(gunzipSync(Buffer.from(row.payload, 'base64')).toString());
  const payload = gzipSync(text).toString('base64');
  return { ...row, payload, checksum: createHash('sha256').update(payload).digest('hex') };
}

/** The snapshots of a stream and their records, highest position first. */
export async function readStates(
  database: Database,
  stream: InputStreamName,
): Promise<{ readonly header: StoredSnapshotHeader; readonly records: readonly FoldRecord[] }[]> {
  const store = createSnapshotStore(database);
  const states = [];
  for (const header of await store.list(stream)) {
    const records: FoldRecord[] = [];
    for await (const lines of store.read(header)) records.push(...lines.map(parseRecord));
    states.push({ header, records });
  }
  return states;
}
