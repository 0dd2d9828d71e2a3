import type { Logger } from 'pino';
import type { FoldRecord } from '../actors/foldRecord.ts';
import type { Database } from './database.ts';
import { deleteWhere, type RowCondition } from './deleteRowsAbove.ts';
import { selectRetained } from './snapshotRetention.ts';
import { type Chunk, readChunks, SnapshotDamaged, writeChunks } from './snapshotText.ts';
import {
  type FoldedSource,
  formatSnapshotName,
  type SnapshotHeader,
  type StoredSnapshotHeader,
} from './tables/foldSnapshot.ts';
import { foldSnapshots, type SnapshotChunkRow } from './tables/foldSnapshots.ts';
import { insertRows } from './tables/table.ts';
import type { ActiveTables } from './tables.ts';

/** Maximum number of increments of a snapshot: four hours of them, one a minute. */
export const incrementsMax = 240;
/** Increments may grow to this size, or to the size of the whole state if that is larger. */
const incrementBytesMin = 256 * 1024;
/** Chunks that one statement reads: at most two MiB, so that parsing does not block the event loop for long. */
const chunksPerSelect = 8;

const headers = foldSnapshots.select(
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
const partSummaries = foldSnapshots.select('part', 'chunkCount', 'checksum');
const chunks = foldSnapshots.select('part', 'chunk', 'payload');

/** A snapshot that this process is writing, up to its last part. */
export interface SnapshotChain {
  readonly snapshot: string;
  readonly table: string;
  readonly part: number;
  readonly ordinal: number;
  readonly baseBytes: number;
  readonly incrementBytes: number;
}

export interface SnapshotStore {
  /** Saves a whole state, and removes snapshots that are no longer retained. */
  saveBase(header: SnapshotHeader, records: Iterable<FoldRecord>): Promise<SnapshotChain>;
  /** Saves the changes since the last part of a snapshot. After a failure no increment may follow. */
  saveIncrement(
    chain: SnapshotChain,
    header: SnapshotHeader,
    changes: Iterable<FoldRecord>,
  ): Promise<SnapshotChain>;
  /** Whether another increment may follow; otherwise the next save is a whole state. */
  canExtend(chain: SnapshotChain): boolean;
  /** Restorable states of a stream, highest position first. */
  list(stream: FoldedSource): Promise<StoredSnapshotHeader[]>;
  /**
   * The lines of a whole state, then of its increments.
   *
   * @throws SnapshotDamaged when the stored text differs from the saved one.
   */
  read(header: StoredSnapshotHeader): AsyncIterable<readonly string[]>;
  deleteAbove(stream: FoldedSource, position: number): Promise<void>;
}

interface SnapshotStoreOptions {
  readonly database: Database;
  readonly tables: ActiveTables;
  readonly logger: Logger;
}

/**
 * Snapshots of folds: a whole state and increments, each with its own digest. Saving costs only what changed. Each snapshot with its increments is a
 * partition. The order of writing leaves a restorable state after a kill at any point:
 *
 * 1. A part, with one insert. If it is damaged later, the state before it is restored.
 * 2. The next part, only once the previous one is stored. A failure with an unknown outcome ends the snapshot: a whole state follows.
 * 3. After a whole state, the partitions of snapshots without a retained state are dropped.
 *
 * Each call uses the generation that is active when it begins.
 */
export function createSnapshotStore({ database, tables, logger }: SnapshotStoreOptions): SnapshotStore {
  async function saveBase(header: SnapshotHeader, records: Iterable<FoldRecord>): Promise<SnapshotChain> {
    const table = tables().foldSnapshots;
    const snapshot = formatName(header);
    // Remains of an earlier attempt at the same snapshot would mix with this one.
    await drop(table, snapshot);
    const others = await listIn(table, header.stream);
    const ordinal = Math.max(0, ...others.map((other) => other.ordinal)) + 1;
    const saved: StoredSnapshotHeader = { ...header, snapshot, part: 0, ordinal };
    const baseBytes = await writePart(table, saved, records);
    await prune(table, saved, others);
    return { snapshot, table, part: 0, ordinal, baseBytes, incrementBytes: 0 };
  }

  async function saveIncrement(
    chain: SnapshotChain,
    header: SnapshotHeader,
    changes: Iterable<FoldRecord>,
  ): Promise<SnapshotChain> {
    const { snapshot, table } = chain;
    const part = chain.part + 1;
    const ordinal = chain.ordinal + 1;
    const bytes = await writePart(table, { ...header, snapshot, part, ordinal }, changes);
    return { ...chain, part, ordinal, incrementBytes: chain.incrementBytes + bytes };
  }

  /** Writes a part with one insert, so that all of it is stored or nothing. Returns the length of its payload in characters. */
  async function writePart(table: string, header: StoredSnapshotHeader, records: Iterable<FoldRecord>) {
    const rows: SnapshotChunkRow[] = [];
    for await (const { payload, checksum } of writeChunks(records)) {
      const chunk = rows.length;
      const chunkCount = checksum === null ? 0 : chunk + 1;
      rows.push({ ...header, chunk, chunkCount, checksum: checksum ?? '', payload });
    }
    await insertRows(database, foldSnapshots, rows, table);
    return rows.reduce((bytes, { payload }) => bytes + payload.length, 0);
  }

  function canExtend({ table, part, baseBytes, incrementBytes }: SnapshotChain): boolean {
    return (
      table === tables().foldSnapshots &&
      part < incrementsMax &&
      incrementBytes <= Math.max(baseBytes, incrementBytesMin)
    );
  }

  function list(stream: FoldedSource): Promise<StoredSnapshotHeader[]> {
    return listIn(tables().foldSnapshots, stream);
  }

  async function listIn(table: string, stream: FoldedSource): Promise<StoredSnapshotHeader[]> {
    const rows = await database.select(
      `SELECT snapshot, part, ${headers.columns
        .slice(2)
        .map((column) => `any(${column})`)
        .join(', ')}
       FROM ${table} WHERE stream = {stream:String} GROUP BY snapshot, part
       HAVING uniqExact(chunk) = max(chunk_count) ORDER BY snapshot, part`,
      { stream },
    );
    const restorable: StoredSnapshotHeader[] = [];
    let expected: { readonly snapshot: string; part: number } = { snapshot: '', part: 0 };
    for (const header of rows.map(headers.read)) {
      const { snapshot, part } = header;
      if (snapshot !== expected.snapshot) expected = { snapshot, part: 0 };
      if (part === expected.part) {
        restorable.push(header);
        expected.part++;
      } else
        logger.error(
          { snapshot: formatSnapshotName(header), missing: expected.part },
          'a part of a snapshot is missing; only states before it can be restored',
        );
    }
    return restorable.sort((a, b) => b.position - a.position || b.takenAtMs - a.takenAtMs);
  }

  async function* read(header: StoredSnapshotHeader): AsyncIterable<readonly string[]> {
    const { snapshot, part: last } = header;
    const table = tables().foldSnapshots;
    const rows = await database.select(
      `SELECT part, max(chunk_count), max(checksum) FROM ${table}
       WHERE snapshot = {snapshot:String} AND part <= {last:Int64} GROUP BY part ORDER BY part`,
      { snapshot, last },
    );
    const parts = rows.map(partSummaries.read);
    if (parts.length !== last + 1) throw new SnapshotDamaged('parts are missing');
    const places = parts.flatMap(({ part, chunkCount }) =>
      Array.from({ length: chunkCount }, (_, chunk) => ({ part, chunk })),
    );
    const payloads = readPayloads(table, snapshot, places)[Symbol.asyncIterator]();
    for (const { chunkCount, checksum } of parts) yield* readChunks(readPart(payloads, chunkCount, checksum));
  }

  async function* readPart(
    payloads: AsyncIterator<string>,
    chunkCount: number,
    checksum: string,
  ): AsyncIterable<Chunk> {
    for (let chunk = 0; chunk < chunkCount; chunk++) {
      const next = await payloads.next();
      if (next.done === true) throw new SnapshotDamaged('chunks are missing');
      yield { payload: next.value, checksum: chunk === chunkCount - 1 ? checksum : null };
    }
  }

  /** Payloads of these chunks, in order. The next statement already runs while the caller uses a payload. */
  async function* readPayloads(table: string, snapshot: string, places: readonly ChunkPlace[]) {
    const select = async (from: number) => {
      const [first, last] = [places[from], places[Math.min(from + chunksPerSelect, places.length) - 1]];
      if (first === undefined || last === undefined) return [];
      const rows = await database.selectPlain(
        chunks.columns,
        `FROM ${table} WHERE snapshot = {snapshot:String}
         AND (part, chunk) >= ({firstPart:Int64}, {firstChunk:Int64})
         AND (part, chunk) <= ({lastPart:Int64}, {lastChunk:Int64}) ORDER BY part, chunk`,
        {
          snapshot,
          firstPart: first.part,
          firstChunk: first.chunk,
          lastPart: last.part,
          lastChunk: last.chunk,
        },
      );
      // A repeated insert leaves duplicates.
      return rows.map(chunks.read).filter((row, at, all) => !isSameChunk(row, all[at - 1]));
    };
    let next = select(0);
    for (let from = 0; from < places.length; from += chunksPerSelect) {
      const rows = await next;
      next = select(from + chunksPerSelect);
      next.catch(() => undefined); // The `await` above throws the error.
      for (const [index, { part, chunk, payload }] of rows.entries()) {
        const place = places[from + index];
        if (place?.part !== part || place.chunk !== chunk) throw new SnapshotDamaged('chunks are missing');
        yield payload;
      }
    }
  }

  /** Drops snapshots without a retained state. Later increments stay with a retained state. */
  async function prune(table: string, saved: StoredSnapshotHeader, others: readonly StoredSnapshotHeader[]) {
    const retained = new Set(selectRetained(saved, others).map(({ snapshot }) => snapshot));
    const names = await database.select(
      `SELECT DISTINCT snapshot FROM ${table} WHERE stream = {stream:String}`,
      { stream: saved.stream },
    );
    for (const [name] of names.map((row) => row.map(String)))
      if (name !== undefined && !retained.has(name)) await drop(table, name);
  }

  async function deleteAbove(stream: FoldedSource, position: number) {
    const table = tables().foldSnapshots;
    const above: RowCondition = {
      sql: 'stream = {stream:String} AND position > {position:Int64}',
      parameters: { stream, position },
    };
    const names = await database.select(
      `SELECT snapshot, min(position) FROM ${table} WHERE stream = {stream:String}
       GROUP BY snapshot HAVING max(position) > {position:Int64}`,
      above.parameters,
    );
    for (const [name, first] of names) if (Number(first) > position) await drop(table, String(name));
    if (names.some(([, first]) => Number(first) <= position)) await deleteWhere(database, table, above);
  }

  async function drop(table: string, name: string) {
    await database.command(`ALTER TABLE ${table} DROP PARTITION {name:String}`, { name });
  }

  return { saveBase, saveIncrement, canExtend, list, read, deleteAbove };
}

interface ChunkPlace {
  readonly part: number;
  readonly chunk: number;
}

type StoredChunk = ReturnType<typeof chunks.read>;

function isSameChunk(one: StoredChunk, other: StoredChunk | undefined): boolean {
  return one.part === other?.part && one.chunk === other.chunk && one.payload === other.payload;
}

/** The name of a snapshot, which is its partition. */
function formatName({ stream, foldVersion, configuration, position, takenAtMs }: SnapshotHeader): string {
  return `${stream}.${foldVersion}.${position}.${takenAtMs}.${configuration.slice(0, 16)}`;
}
