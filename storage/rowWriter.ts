import type { Logger } from 'pino';
import { createActor } from 'xstate';
import type { StoredRows } from '../actors/storedRows.ts';
import type { Clock } from '../actors/views/clock.ts';
import { type RowWriterState, rowWriterMachine } from '../machines/rowWriterMachine.ts';
import type { Database } from './database.ts';
import { createRowEncoder, type EncodedRows, insertsOf, type RowInsert } from './rowInserts.ts';
import type { ActiveTables } from './tables.ts';
import { createWaiters } from './waiters.ts';

/** Rows of one batch by default: larger ones are faster, and cost the embedded engine more memory. */
const defaultBatchRows = 5_000;
/** What may wait, in rows and bytes; above it the stream's source is held back. Rows of readings have about 300 bytes. */
export const bufferedRowsMax = 50_000;
export const bufferedBytesMax = 64 * 1024 * 1024;
/** A trickle of rows is gathered for this long, since every insert makes a part that has to be merged. */
const gatherMs = 1_000;
const firstRetryMs = 250;
const longestRetryMs = 5_000;

export interface RowWriterStatus {
  readonly state: RowWriterState;
  readonly bufferedRows: number;
  readonly bufferedBytes: number;
  readonly writtenRows: ReadonlyMap<string, number>;
  readonly batches: number;
  readonly failures: number;
  /** Null unless ClickHouse is failing at the moment. */
  readonly failingForMs: number | null;
}

export interface RowWriter {
  /** Takes the rows of the next piece of the stream; never fails, never drops. */
  add(rows: StoredRows): void;
  /** While false, the source of the stream takes no message. */
  hasRoom(): boolean;
  /** Resolves when half of the buffer is free. */
  room(): Promise<void>;
  /** True when everything added so far is stored; false when it was discarded or the writer was closed before. */
  flushed(): Promise<boolean>;
  /** Position of the stream through which everything is stored. */
  flushedThrough(): number;
  /** Forgets what waits, and starts behind `position`; what was stored stays. */
  rewind(position: number): Promise<void>;
  status(): RowWriterStatus;
  /** Stops at once; what waits is not written (the stream still holds it). */
  close(): Promise<void>;
}

export interface RowWriterParts {
  readonly database: Database;
  readonly tables: ActiveTables;
  /** Rows of one batch, at most about. */
  readonly batchRows?: number;
  readonly clock: Clock;
  readonly logger: Logger;
}

/**
 * Writes rows in batches, one at a time, in the order of the stream. A batch whose outcome is not known is sent again,
 * the identical one, until ClickHouse acknowledges it: rows have natural keys, so writing twice changes nothing.
 */
export function createRowWriter(parts: RowWriterParts): RowWriter {
  const { database, tables, batchRows = defaultBatchRows, clock, logger } = parts;
  const machine = createActor(rowWriterMachine).start();
  const waiters = createWaiters();
  const encode = createRowEncoder();
  const writtenRows = new Map<string, number>();
  const counts = { bufferedRows: 0, bufferedBytes: 0, batches: 0, failures: 0 };
  let queue: EncodedRows[] = [];
  let flushedThrough = 0;
  let addedThrough = 0;
  /** Changes when what was added before is discarded. */
  let life = 0;
  let isClosed = false;
  let failingSinceMs: number | null = null;
  let running: Promise<void> | null = null;
  let hurry: () => void = () => undefined;
  /** Someone waits until everything through this position is stored. */
  let hurriedThrough = 0;

  function add(rows: StoredRows) {
    const encoded = encode(rows);
    queue.push(encoded);
    counts.bufferedRows += encoded.rowCount;
    counts.bufferedBytes += encoded.byteLength;
    addedThrough = rows.throughPosition;
    if (counts.bufferedRows >= batchRows && failingSinceMs === null) hurry();
    running ??= write().finally(() => {
      running = null;
    });
  }

  async function write() {
    const startedIn = life;
    machine.send({ type: 'rowsAdded' });
    while (queue.length > 0 && life === startedIn && !isClosed) {
      const isHurried = flushedThrough < hurriedThrough;
      if (counts.bufferedRows < batchRows && !isHurried) await pause(gatherMs);
      if (life !== startedIn || isClosed) break;
      const pieces = takeBatch();
      const inserts = insertsOf(tables(), pieces);
      for (const insert of inserts) if (!(await store(insert, startedIn))) return;
      counts.batches++;
      counts.bufferedRows -= pieces.reduce((sum, piece) => sum + piece.rowCount, 0);
      counts.bufferedBytes -= pieces.reduce((sum, piece) => sum + piece.byteLength, 0);
      flushedThrough = (pieces.at(-1) as EncodedRows).throughPosition;
      waiters.wake();
    }
    machine.send({ type: 'drained' });
  }

  function takeBatch(): EncodedRows[] {
    let rows = 0;
    let pieces = 0;
    for (const piece of queue) {
      rows += piece.rowCount;
      pieces++;
      if (rows >= batchRows) break;
    }
    return queue.splice(0, pieces);
  }

  /** False when it was told to stop before the insert was acknowledged. */
  async function store(insert: RowInsert, startedIn: number): Promise<boolean> {
    for (let failures = 0; ; failures++) {
      try {
        await database.insertBytes(insert.table, insert.columns, insert.bytes);
        if (life !== startedIn) return false;
        writtenRows.set(insert.table, (writtenRows.get(insert.table) ?? 0) + insert.rowCount);
        if (failures > 0) noteRecovery();
        return true;
      } catch (error) {
        noteFailure(error);
        await pause(Math.min(firstRetryMs * 2 ** failures, longestRetryMs) * (0.75 + Math.random() / 2));
        if (isClosed || life !== startedIn) return false;
      }
    }
  }

  function noteFailure(error: unknown) {
    counts.failures++;
    if (failingSinceMs !== null) return;
    failingSinceMs = clock.monotonicMs();
    machine.send({ type: 'failed' });
    logger.error(
      { err: error, bufferedRows: counts.bufferedRows },
      'ClickHouse does not take rows; they wait',
    );
  }

  function noteRecovery() {
    const failedForMs = Math.round(clock.monotonicMs() - (failingSinceMs ?? clock.monotonicMs()));
    failingSinceMs = null;
    machine.send({ type: 'acknowledged' });
    logger.info({ failedForMs, bufferedRows: counts.bufferedRows }, 'ClickHouse takes rows again');
  }

  /** Waits, unless someone is in a hurry. */
  function pause(ms: number): Promise<void> {
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, ms);
      hurry = () => {
        clearTimeout(timer);
        resolve();
      };
    });
  }

  return {
    add,
    hasRoom: () => counts.bufferedRows < bufferedRowsMax && counts.bufferedBytes < bufferedBytesMax,
    room: async () => {
      await waiters.until(
        () => counts.bufferedRows <= bufferedRowsMax / 2 && counts.bufferedBytes <= bufferedBytesMax / 2,
      );
    },
    flushed: async () => {
      const through = addedThrough;
      const startedIn = life;
      hurriedThrough = through;
      if (failingSinceMs === null) hurry();
      await waiters.until(() => life !== startedIn || flushedThrough >= through);
      return life === startedIn && flushedThrough >= through;
    },
    flushedThrough: () => flushedThrough,
    rewind: async (position) => {
      life++;
      queue = [];
      hurry();
      await running;
      counts.bufferedRows = 0;
      counts.bufferedBytes = 0;
      failingSinceMs = null;
      flushedThrough = position;
      addedThrough = position;
      hurriedThrough = position;
      machine.send({ type: 'drained' });
      waiters.wake();
    },
    status: () => ({
      ...counts,
      state: machine.getSnapshot().value,
      writtenRows,
      failingForMs: failingSinceMs === null ? null : clock.monotonicMs() - failingSinceMs,
    }),
    close: async () => {
      if (isClosed) return;
      isClosed = true;
      hurry();
      waiters.end();
      await running;
      machine.send({ type: 'closed' });
    },
  };
}
