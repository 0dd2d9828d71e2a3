import { createHash } from 'node:crypto';
import { promisify } from 'node:util';
import { gunzip, gzip } from 'node:zlib';
import type { Logger } from 'pino';
import type { Database } from './database.ts';
import type { FoldedSource, FoldSnapshot, SnapshotHeader, StoredSnapshotHeader } from './foldSnapshot.ts';
import { selectRetained } from './snapshotRetention.ts';
import { foldSnapshots } from './tables/foldSnapshots.ts';
import { insertRows } from './tables/table.ts';
import type { ActiveTables } from './tables.ts';
import { sqlString } from './tabSeparated.ts';

const compress = promisify(gzip);
const decompress = promisify(gunzip);

/** One row holds at most this much of a snapshot. */
const chunkCharactersMax = 1024 * 1024;

const headers = foldSnapshots.select(
  'stream',
  'foldVersion',
  'configuration',
  'streamCreated',
  'position',
  'digest',
  'takenAtMs',
  'ordinal',
  'format',
);
const chunks = foldSnapshots.select('chunk', 'checksum', 'payload');

export interface SnapshotStore {
  save(snapshot: FoldSnapshot): Promise<void>;
  /** Complete snapshots of a stream, those of the highest position first. */
  list(stream: FoldedSource): Promise<StoredSnapshotHeader[]>;
  /** Null, with a line in the log, when what is stored is not what was saved. */
  load(header: StoredSnapshotHeader): Promise<FoldSnapshot | null>;
  deleteAbove(stream: FoldedSource, position: number): Promise<void>;
}

export interface SnapshotStoreOptions {
  readonly database: Database;
  readonly tables: ActiveTables;
  readonly logger: Logger;
}

/**
 * Snapshots of folds, each a partition of its own. A kill in the middle of saving leaves fewer chunks than the first
 * one announces, which is no snapshot. Each call is of the generation that is active when it begins.
 */
export function createSnapshotStore({ database, tables, logger }: SnapshotStoreOptions): SnapshotStore {
  async function save(snapshot: FoldSnapshot) {
    const table = tables().foldSnapshots;
    const name = formatSnapshotName(snapshot);
    const payload = (await compress(snapshot.state)).toString('base64');
    const checksum = computeChecksum(payload);
    const { state: _, ...header } = snapshot;
    const chunkCount = Math.max(1, Math.ceil(payload.length / chunkCharactersMax));
    const others = (await listIn(table, snapshot.stream)).filter(
      (header) => formatSnapshotName(header) !== name,
    );
    const ordinal = Math.max(0, ...others.map((other) => other.ordinal)) + 1;
    // What an earlier attempt left of the same snapshot would be mixed with this one.
    await drop(table, name);
    for (let chunk = 0; chunk < chunkCount; chunk++) {
      const part = payload.slice(chunk * chunkCharactersMax, (chunk + 1) * chunkCharactersMax);
      const row = { ...header, snapshot: name, chunk, chunkCount, ordinal, checksum, payload: part };
      await insertRows(database, foldSnapshots, [row], table);
    }
    await prune(table, { ...snapshot, ordinal }, others);
  }

  function list(stream: FoldedSource): Promise<StoredSnapshotHeader[]> {
    return listIn(tables().foldSnapshots, stream);
  }

  async function listIn(table: string, stream: FoldedSource): Promise<StoredSnapshotHeader[]> {
    const rows = await database.select(
      `SELECT ${headers.columns.map((column) => `any(${column})`).join(', ')}
       FROM ${table} WHERE stream = ${sqlString(stream)} GROUP BY snapshot
       HAVING uniqExact(chunk) = any(chunk_count) ORDER BY any(position) DESC, any(taken_at_ms) DESC`,
    );
    return rows.map(headers.read);
  }

  async function load(header: StoredSnapshotHeader): Promise<FoldSnapshot | null> {
    const name = formatSnapshotName(header);
    const rows = await database.select(
      `SELECT DISTINCT ${chunks.list} FROM ${tables().foldSnapshots} WHERE snapshot = ${sqlString(name)} ORDER BY chunk`,
    );
    const found = rows.map(chunks.read);
    const payload = found.map((chunk) => chunk.payload).join('');
    if (found[0]?.checksum !== computeChecksum(payload)) {
      logger.error({ snapshot: name }, 'snapshot is damaged; an older one is used');
      return null;
    }
    return { ...header, state: (await decompress(Buffer.from(payload, 'base64'))).toString('utf8') };
  }

  async function prune(table: string, saved: StoredSnapshotHeader, others: readonly StoredSnapshotHeader[]) {
    const retained = new Set(selectRetained(saved, others).map(formatSnapshotName));
    const names = await database.select(
      `SELECT DISTINCT snapshot FROM ${table} WHERE stream = ${sqlString(saved.stream)}`,
    );
    for (const [one] of names) if (!retained.has(one as string)) await drop(table, one as string);
  }

  async function deleteAbove(stream: FoldedSource, position: number) {
    const table = tables().foldSnapshots;
    for (const header of await listIn(table, stream))
      if (header.position > position) await drop(table, formatSnapshotName(header));
  }

  async function drop(table: string, name: string) {
    await database.command(`ALTER TABLE ${table} DROP PARTITION ${sqlString(name)}`);
  }

  return { save, list, load, deleteAbove };
}

/** The name of a snapshot: its partition. */
export function formatSnapshotName({
  stream,
  foldVersion,
  configuration,
  position,
  takenAtMs,
}: SnapshotHeader): string {
  // Earlier versions noted no configuration.
  const suffix = configuration === '' ? '' : `.${configuration.slice(0, 16)}`;
  return `${stream}.${foldVersion}.${position}.${takenAtMs}${suffix}`;
}

function computeChecksum(payload: string): string {
  return createHash('sha256').update(payload).digest('hex');
}
