import { createHash } from 'node:crypto';
import { promisify } from 'node:util';
import { gunzip, gzip } from 'node:zlib';
import type { Logger } from 'pino';
import type { Database, ResultRow } from './database.ts';
import type { FoldedSource, FoldSnapshot, SnapshotHeader } from './foldSnapshot.ts';
import type { ActiveTables } from './tables.ts';
import { sqlString } from './tabSeparated.ts';

const compress = promisify(gzip);
const decompress = promisify(gunzip);

/** One row holds at most this much of a snapshot. */
const chunkCharactersMax = 1024 * 1024;
/** The newest ones are all kept, */
const newestKept = 3;
/** and of the older ones the newest that is at least so old, each: far enough back for any divergence. */
const agesKeptMs = [10 * 60_000, 3_600_000, 6 * 3_600_000, 86_400_000, 7 * 86_400_000];

const columns = [
  'snapshot',
  'chunk',
  'chunk_count',
  'stream',
  'fold_version',
  'stream_created',
  'position',
  'digest',
  'taken_at_ms',
  'checksum',
  'payload',
];

export interface SnapshotStore {
  save(snapshot: FoldSnapshot): Promise<void>;
  /** Complete snapshots of a stream, newest first. */
  list(stream: FoldedSource): Promise<SnapshotHeader[]>;
  /** Null, with a line in the log, when what is stored is not what was saved. */
  load(header: SnapshotHeader): Promise<FoldSnapshot | null>;
  deleteAbove(stream: FoldedSource, position: number): Promise<void>;
}

export interface SnapshotStoreParts {
  readonly database: Database;
  readonly tables: ActiveTables;
  readonly logger: Logger;
}

/**
 * Snapshots of folds, each a partition of its own. A kill in the middle of saving leaves fewer chunks than the first
 * one announces, which is no snapshot. Each call is of the generation that is active when it begins.
 */
export function createSnapshotStore({ database, tables, logger }: SnapshotStoreParts): SnapshotStore {
  async function save(snapshot: FoldSnapshot) {
    const table = tables().foldSnapshots;
    const name = nameOf(snapshot);
    const payload = (await compress(snapshot.state)).toString('base64');
    const checksum = checksumOf(payload);
    const { stream, foldVersion, streamCreated, position, digest, takenAtMs } = snapshot;
    const chunkCount = Math.max(1, Math.ceil(payload.length / chunkCharactersMax));
    // What an earlier attempt left of the same snapshot would be mixed with this one.
    await drop(table, name);
    for (let chunk = 0; chunk < chunkCount; chunk++) {
      const part = payload.slice(chunk * chunkCharactersMax, (chunk + 1) * chunkCharactersMax);
      const about = [stream, foldVersion, streamCreated, position, digest, takenAtMs, checksum];
      await database.insert(table, columns, [[name, chunk, chunkCount, ...about, part]]);
    }
    await prune(table, stream);
  }

  function list(stream: FoldedSource): Promise<SnapshotHeader[]> {
    return listed(tables().foldSnapshots, stream);
  }

  async function listed(table: string, stream: FoldedSource): Promise<SnapshotHeader[]> {
    const rows = await database.select(
      `SELECT stream, any(fold_version), any(stream_created), any(position), any(digest), any(taken_at_ms)
       FROM ${table} WHERE stream = ${sqlString(stream)} GROUP BY stream, snapshot
       HAVING uniqExact(chunk) = any(chunk_count) ORDER BY any(taken_at_ms) DESC, any(position) DESC`,
    );
    return rows.map(headerOf);
  }

  async function load(header: SnapshotHeader): Promise<FoldSnapshot | null> {
    const name = nameOf(header);
    const rows = await database.select(
      `SELECT DISTINCT chunk, checksum, payload FROM ${tables().foldSnapshots} WHERE snapshot = ${sqlString(name)} ORDER BY chunk`,
    );
    const payload = rows.map(([, , part]) => part as string).join('');
    if (rows[0]?.[1] !== checksumOf(payload)) {
      logger.error({ snapshot: name }, 'snapshot is damaged; an older one is used');
      return null;
    }
    return { ...header, state: (await decompress(Buffer.from(payload, 'base64'))).toString('utf8') };
  }

  async function prune(table: string, stream: FoldedSource) {
    const headers = await listed(table, stream);
    const kept = new Set(headersKept(headers).map(nameOf));
    const names = await database.select(
      `SELECT DISTINCT snapshot FROM ${table} WHERE stream = ${sqlString(stream)}`,
    );
    for (const [name] of names) if (!kept.has(name as string)) await drop(table, name as string);
  }

  async function deleteAbove(stream: FoldedSource, position: number) {
    const table = tables().foldSnapshots;
    for (const header of await listed(table, stream))
      if (header.position > position) await drop(table, nameOf(header));
  }

  async function drop(table: string, name: string) {
    await database.command(`ALTER TABLE ${table} DROP PARTITION ${sqlString(name)}`);
  }

  return { save, list, load, deleteAbove };
}

/** Those of `headers` (newest first) that stay. */
export function headersKept(headers: readonly SnapshotHeader[]): SnapshotHeader[] {
  const [newest] = headers;
  if (newest === undefined) return [];
  const aged = agesKeptMs.flatMap((ageMs) => {
    const oldEnough = headers.filter(({ takenAtMs }) => newest.takenAtMs - takenAtMs >= ageMs);
    return oldEnough.slice(0, 1);
  });
  // Until something is as old as an age asks for, the oldest one grows towards it.
  const oldest = headers.slice(-1);
  return [...new Set([...headers.slice(0, newestKept), ...aged, ...oldest])];
}

function nameOf({ stream, foldVersion, position, takenAtMs }: SnapshotHeader): string {
  return `${stream}.${foldVersion}.${position}.${takenAtMs}`;
}

function checksumOf(payload: string): string {
  return createHash('sha256').update(payload).digest('hex');
}

function headerOf(row: ResultRow): SnapshotHeader {
  const [stream, foldVersion, streamCreated, position, digest, takenAtMs] = row;
  return {
    stream: stream as FoldedSource,
    foldVersion: Number(foldVersion),
    streamCreated: streamCreated as string,
    position: Number(position),
    digest: digest as string,
    takenAtMs: Number(takenAtMs),
  };
}
