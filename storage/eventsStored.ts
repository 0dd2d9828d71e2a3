import type { EvictedSource } from '../actors/feed/olderEvents.ts';
import { listStoredCategories } from '../actors/views/feedIndex.ts';
import type { Database } from './database.ts';
import { pollUntil } from './pollUntil.ts';
import type { OldestRowMs } from './rowsTtl.ts';
import { StorageUnavailable } from './storageUnavailable.ts';
import type { ActiveTables } from './tables.ts';

/** How far the rows of a stream are stored, as their writer reports. */
export interface StoringProgress {
  /** Position of the stream through which everything is stored. */
  storedThrough(): number;
  /** Stores what waits without gathering more. */
  flushNow(): void;
  /** ClickHouse does not take rows at the moment. */
  isFailing(): boolean;
}

/** Rows that are on their way to ClickHouse are awaited for so long: a writer gathers them for a second. */
const awaitedMs = 3_000;
const pollMs = 25;

/**
 * Resolves once ClickHouse holds all events that memory has evicted.
 *
 * @throws StorageUnavailable (as a rejection) when it does not in time.
 */
export type EventsStored = (of: EvictedSource, signal: AbortSignal) => Promise<void>;

/** In the process that writes them: the writer knows, and does not gather while somebody waits. */
export function createWriterEventsStored(writers: {
  readonly measurement: StoringProgress;
  readonly chain: StoringProgress | null;
}): EventsStored {
  return async (of, signal) => {
    const writer = writers[of.source];
    const isWritten = () => writer !== null && writer.storedThrough() >= of.evicted.atPosition;
    if (isWritten()) return;
    writer?.flushNow();
    await waitUntil(of, signal, () => {
      if (writer?.isFailing()) throw new StorageUnavailable('ClickHouse does not take rows');
      return isWritten();
    });
  };
}

/**
 * In a process that only reads: events are written in order of arrival, each first to where its places are, so the newest
 * one that memory has evicted tells. It is asked for each time, since the process that writes may be making them again.
 */
export function createReaderEventsStored(
  database: Database,
  tables: ActiveTables,
  oldestRowMs: OldestRowMs = () => null,
): EventsStored {
  return async (of, signal) => {
    const { source, run, evicted } = of;
    // Their rows may be gone, and none is read.
    if (evicted.throughMs < (oldestRowMs() ?? Number.NEGATIVE_INFINITY)) return;
    const { position, ordinal } = evicted.through;
    const parameters = { run, categories: listStoredCategories('all', source), position, ordinal };
    const isSeen = async () => {
      const { measurementEvents, chainEvents } = tables();
      const { events } = source === 'measurement' ? measurementEvents : chainEvents;
      const rows = await database.select(
        `SELECT 1 FROM ${events} WHERE run = {run:String} AND category IN {categories:Array(String)}
         AND position = {position:Int64} AND ordinal = {ordinal:Int64} LIMIT 1`,
        parameters,
        signal,
      );
      return rows.length > 0;
    };
    await waitUntil(of, signal, isSeen);
  };
}

async function waitUntil(
  { source }: EvictedSource,
  signal: AbortSignal,
  isMet: () => boolean | Promise<boolean>,
): Promise<void> {
  const wasMet = await pollUntil(isMet, { everyMs: pollMs, limitMs: awaitedMs, signal });
  if (!wasMet) throw new StorageUnavailable(`ClickHouse does not hold the older ${source} events yet`);
}
