import type { FoldRecord } from '../actors/foldRecord.ts';
import type { Database } from './database.ts';
import { selectRetained } from './snapshotRetention.ts';
import { readPayloads, writePayloads } from './snapshotText.ts';
import type { FoldedSource, SnapshotHeader, StoredSnapshotHeader } from './tables/foldSnapshot.ts';
import { foldStates } from './tables/foldStates.ts';
import { insertRows } from './tables/table.ts';
import type { ActiveTables } from './tables.ts';

/** Chunks that one statement reads: at most two MiB, so that parsing does not block the event loop for long. */
const chunksPerSelect = 8;

const headers = foldStates.select(
  'snapshot',
  'stream',
  'run',
  'foldVersion',
  'configuration',
  'streamCreated',
  'position',
  'digest',
  'takenAtMs',
  'checksum',
);

export interface SnapshotStore {
  /** Saves a state, and removes snapshots that are no longer retained. Resolves with the stored bytes. */
  save(header: SnapshotHeader, records: Iterable<FoldRecord>): Promise<number>;
  /** Snapshots of a stream, highest position first. */
  list(stream: FoldedSource): Promise<StoredSnapshotHeader[]>;
  /**
   * The lines of a snapshot.
   *
   * @throws SnapshotDamaged when the stored text differs from the saved one.
   */
  read(header: StoredSnapshotHeader): AsyncIterable<readonly string[]>;
  /** Removes the snapshots of a stream above a position. */
  deleteAbove(stream: FoldedSource, position: number): Promise<void>;
}

/**
 * Snapshots of folds, each a whole state in a partition of its own. One insert stores all of it or nothing, and only then are older ones
 * dropped, so a kill at any point leaves a restorable state. Each call uses the generation that is active when it begins.
 */
export function createSnapshotStore({
  database,
  tables,
}: {
  readonly database: Database;
  readonly tables: ActiveTables;
}): SnapshotStore {
  async function save(header: SnapshotHeader, records: Iterable<FoldRecord>): Promise<number> {
    const table = tables().foldStates;
    const { payloads, checksum } = await writePayloads(records);
    const saved: StoredSnapshotHeader = { ...header, snapshot: formatName(header), checksum };
    const rows = payloads.map((payload, chunk) => ({ ...saved, chunk, payload }));
    await insertRows(database, foldStates, rows, table);
    await dropExcept(table, saved);
    return payloads.reduce((bytes, payload) => bytes + payload.length, 0);
  }

  function list(stream: FoldedSource): Promise<StoredSnapshotHeader[]> {
    return listIn(tables().foldStates, stream);
  }

  async function listIn(table: string, stream: FoldedSource): Promise<StoredSnapshotHeader[]> {
    const rows = await database.select(
      `SELECT DISTINCT ${headers.list} FROM ${table} WHERE stream = {stream:String}`,
      { stream },
    );
    return rows.map(headers.read).sort((a, b) => b.position - a.position || b.takenAtMs - a.takenAtMs);
  }

  function read({ snapshot, checksum }: StoredSnapshotHeader): AsyncIterable<readonly string[]> {
    return readPayloads(selectPayloads(tables().foldStates, snapshot), checksum);
  }

  /** The payloads of a snapshot, in order. The next statement already runs while the caller uses a payload. */
  async function* selectPayloads(table: string, snapshot: string): AsyncIterable<string> {
    const select = (from: number) =>
      database.selectPlain(
        ['payload'],
        `FROM ${table} WHERE snapshot = {snapshot:String} AND chunk >= {from:Int64} AND chunk < {end:Int64}
         ORDER BY chunk LIMIT 1 BY chunk`, // A repeated insert leaves duplicates.
        { snapshot, from, end: from + chunksPerSelect },
      );
    let next = select(0);
    for (let from = chunksPerSelect; ; from += chunksPerSelect) {
      const rows = await next;
      if (rows.length === 0) return;
      next = select(from);
      next.catch(() => undefined); // The `await` above throws the error.
      for (const [payload] of rows) if (payload !== undefined) yield payload;
    }
  }

  /** Drops the snapshots that are not retained once another one is saved. */
  async function dropExcept(table: string, saved: StoredSnapshotHeader) {
    const stored = await listIn(table, saved.stream);
    const others = stored.filter(({ snapshot }) => snapshot !== saved.snapshot);
    const retained = selectRetained(saved, others);
    for (const one of others) if (!retained.includes(one)) await drop(table, one.snapshot);
  }

  async function deleteAbove(stream: FoldedSource, position: number) {
    const table = tables().foldStates;
    for (const one of await listIn(table, stream))
      if (one.position > position) await drop(table, one.snapshot);
  }

  async function drop(table: string, name: string) {
    await database.command(`ALTER TABLE ${table} DROP PARTITION {name:String}`, { name });
  }

  return { save, list, read, deleteAbove };
}

/** The name of a snapshot, which is its partition. */
function formatName({ stream, foldVersion, configuration, position, takenAtMs }: SnapshotHeader): string {
  return `${stream}.${foldVersion}.${position}.${takenAtMs}.${configuration.slice(0, 16)}`;
}
