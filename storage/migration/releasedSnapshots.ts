import { createGunzip } from 'node:zlib';
import { type FoldRecord, parseRecord, refuseOnError } from '../../actors/folds/foldRecord.ts';
import { type InputStreamName, inputStreamNames } from '../../actors/messages/subjects.ts';
import type { Database } from '../clickhouse/database.ts';
import { integer, oneOf, string, stringOrEmpty } from '../definition/column.ts';
import { defineTable } from '../definition/table.ts';
import { readPayloads } from '../snapshots/snapshotText.ts';
import type { SnapshotHeader } from '../tables/foldSnapshot.ts';
import { readActiveGeneration, readReadingsOrigin } from './releasedTables.ts';

/*
 * Snapshots as version 1.0 stored them: a whole state as part 0, and parts with the changes since, in one partition. Only the migration to
 * runs reads them.
 */

/** A replay of one installation noted the state of the other ones, under a name of its own. */
const releasedSources = [...inputStreamNames, 'MINER_COUNTER beside'] as const;

interface ReleasedChunk extends Omit<ReleasedSource, 'stream'> {
  readonly stream: (typeof releasedSources)[number];
  readonly snapshot: string;
  /** 0 is the whole state; each later part holds the changes since the previous one. */
  readonly part: number;
  readonly chunk: number;
  /** Number of chunks of the part; 0 except in the last chunk. */
  readonly chunkCount: number;
  /** Number of the state in its stream, in the order of saving. */
  readonly ordinal: number;
  /** SHA-256 of the part's payloads; empty except in the last chunk. */
  readonly checksum: string;
  /** Piece of the part's records, gzipped, in base64. */
  readonly payload: string;
}

/** Version 1.0 had no runs. */
export type ReleasedSource = Omit<SnapshotHeader, 'run'>;

export const releasedSnapshots = defineTable<ReleasedChunk>({
  name: 'fold_snapshots',
  columns: {
    snapshot: string,
    part: integer,
    chunk: integer,
    chunkCount: integer,
    stream: oneOf(releasedSources),
    foldVersion: integer,
    configuration: string,
    streamCreated: string,
    position: integer,
    digest: stringOrEmpty,
    takenAtMs: integer,
    ordinal: integer,
    checksum: string,
    payload: string,
  },
  engine: 'MergeTree()',
  partitionBy: { value: 'snapshot' },
  orderBy: ['snapshot', 'part', 'chunk'],
});

const headers = releasedSnapshots.select(
  'snapshot',
  'part',
  'stream',
  'foldVersion',
  'configuration',
  'streamCreated',
  'position',
  'digest',
  'takenAtMs',
  'ordinal',
);
type ReleasedHeader = ReturnType<typeof headers.read>;

/** Finds the state of a stream that was saved last, of those without a missing part; null without one. */
export async function findNewestReleased(
  database: Database,
  generation: number,
  stream: InputStreamName,
): Promise<ReleasedHeader | null> {
  const rows = await database.select(
    `SELECT snapshot, part, ${headers.columns
      .slice(2)
      .map((column) => `any(${column})`)
      .join(', ')}
     FROM ${formatTable(generation)} WHERE stream = {stream:String} GROUP BY snapshot, part
     HAVING uniqExact(chunk) = max(chunk_count) ORDER BY snapshot, part`,
    { stream },
  );
  const parts = rows.map(headers.read);
  const restorable = parts.filter(
    ({ snapshot, part }, at) => parts[at - part]?.snapshot === snapshot && parts[at - part]?.part === 0,
  );
  return restorable.sort((a, b) => b.ordinal - a.ordinal)[0] ?? null;
}

/**
 * The records of a state that `isNeeded` selects by kind and key.
 *
 * @throws SnapshotDamaged or RecordRefused when the stored text differs from the saved one.
 */
export async function readReleasedRecords(
  database: Database,
  generation: number,
  { snapshot, part: last }: ReleasedHeader,
  isNeeded: (record: FoldRecord) => boolean,
): Promise<Iterable<FoldRecord>> {
  const records = new Map<string, FoldRecord>();
  for (let part = 0; part <= last; part++) {
    const rows = await database.selectPlain(
      ['payload', 'checksum'],
      `FROM ${formatTable(generation)} WHERE snapshot = {snapshot:String} AND part = {part:Int64} ORDER BY chunk LIMIT 1 BY chunk`,
      { snapshot, part },
    );
    const payloads = async function* () {
      for (const [payload = ''] of rows) yield payload;
    };
    for await (const lines of readPayloads(payloads(), rows.at(-1)?.[1] ?? '', createGunzip()))
      for (const record of refuseOnError(() => lines.map(parseRecord))) {
        if (!isNeeded(record)) continue;
        const name = `${record.kind} ${record.key}`;
        // An empty value removes a record.
        if (record.value === '') records.delete(name);
        else records.set(name, record);
      }
  }
  return records.values();
}

/**
 * Creation times of the streams that the rows and snapshots of a database of version 1.0 were made from, by stream, the newest first. Readings
 * without a snapshot belong to the stream with which their generation began. A stream without rows and snapshots is left out.
 */
export async function readReleasedStreams(
  database: Database,
): Promise<Map<InputStreamName, readonly [string, ...string[]]>> {
  const generation = await readActiveGeneration(database);
  const created = new Map<InputStreamName, readonly [string, ...string[]]>();
  for (const stream of inputStreamNames) {
    const rows = await database.select(
      `SELECT stream_created FROM ${formatTable(generation)} WHERE stream = {stream:String}
       GROUP BY stream_created ORDER BY max(ordinal) DESC`,
      { stream },
    );
    const [newest, ...others] = rows.map(([one]) => String(one));
    if (newest !== undefined) created.set(stream, [newest, ...others]);
  }
  if (!created.has('MINER_COUNTER')) {
    const origin = await readReadingsOrigin(database, generation);
    if (origin !== null) created.set('MINER_COUNTER', [origin.streamCreated]);
  }
  return created;
}

function formatTable(generation: number): string {
  return `${releasedSnapshots.name}_g${generation}`;
}
