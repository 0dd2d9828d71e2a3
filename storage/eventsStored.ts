import {
  filter,
  firstValueFrom,
  fromEvent,
  map,
  merge,
  type Observable,
  of as rxOf,
  takeUntil,
  timer,
} from 'rxjs';
import { type EvictedSource, listStoredCategories } from '../actors/feed/olderEvents.ts';
import type { Database } from './database.ts';
import { pollUntil } from './pollUntil.ts';
import type { OldestRowMs } from './rowsTtl.ts';
import { StorageUnavailable } from './storageUnavailable.ts';
import type { ActiveTables } from './tables.ts';

export interface StoringProgress {
  /** Stream position through which all rows are stored. */
  storedThrough(): number;
  /** Emits the current progress at once, then after each change. */
  readonly progress$: Observable<{ readonly storedThrough: number; readonly isFailing: boolean }>;
  /** Stores the waiting rows without gathering more. */
  flushNow(): void;
  /** Whether ClickHouse currently refuses rows. */
  isFailing(): boolean;
}

/** How long a reader waits for rows that are not stored yet: a writer gathers them for a second. */
export const awaitedMs = 3_000;
export const pollMs = 25;

/**
 * Resolves once ClickHouse holds all events that memory has evicted.
 *
 * @throws StorageUnavailable (as a rejection) if that takes too long, if ClickHouse refuses rows, or at the signal.
 */
export type EventsStored = (of: EvictedSource, signal: AbortSignal) => Promise<void>;

/** For the process that writes events: asks the writer, which stores at once while a reader waits. */
export function createWriterEventsStored(writers: {
  readonly measurement: StoringProgress;
  readonly chain: StoringProgress | null;
}): EventsStored {
  return async (of, signal) => {
    const { source, evicted } = of;
    const writer = writers[source];
    if (writer === null) throw createUnavailable(source);
    if (writer.storedThrough() >= evicted.atPosition) return;
    writer.flushNow();
    const ended$ = signal.aborted ? rxOf(null) : merge(timer(awaitedMs), fromEvent(signal, 'abort'));
    const stored$ = writer.progress$.pipe(
      map(({ storedThrough, isFailing }) => {
        if (isFailing) throw new StorageUnavailable('rows are not stored at the moment');
        return storedThrough >= evicted.atPosition;
      }),
      filter(Boolean),
      takeUntil(ended$),
    );
    if (!(await firstValueFrom(stored$, { defaultValue: false }))) throw createUnavailable(source);
  };
}

/**
 * For a process that only reads. Events are written in order of arrival, each after its places, so the newest evicted event shows that all are
 * stored. ClickHouse is asked each time, since the writing process may be storing them again.
 */
export function createReaderEventsStored(
  database: Database,
  tables: ActiveTables,
  oldestRowMs: OldestRowMs = () => null,
): EventsStored {
  return async (of, signal) => {
    const { source, run, evicted } = of;
    // Their rows may have aged out, and readers leave them out anyway.
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
    const wasSeen = await pollUntil(isSeen, { everyMs: pollMs, limitMs: awaitedMs, signal });
    if (!wasSeen) throw createUnavailable(source);
  };
}

function createUnavailable(source: EvictedSource['source']): StorageUnavailable {
  return new StorageUnavailable(`ClickHouse does not hold the older ${source} events yet`);
}
