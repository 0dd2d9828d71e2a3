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
import { openEnd, selectVisible, type VisibleRuns } from './lineages.ts';
import { pollUntil } from './pollUntil.ts';
import type { OldestRowMs } from './rowsTtl.ts';
import { StorageUnavailable } from './storageUnavailable.ts';
import type { ActiveTables } from './tables.ts';
import type { ReadRuns } from './visibleRuns.ts';

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
 * Resolves once ClickHouse holds all events that memory has evicted, with the runs that hold them.
 *
 * @throws StorageUnavailable (as a rejection) if that takes too long, if ClickHouse refuses rows, or at the signal.
 */
export type EventsStored = (of: EvictedSource, signal: AbortSignal) => Promise<VisibleRuns>;

/** Rows of measurements name the run of their fold. */
function listMeasurementRuns({ run }: EvictedSource): VisibleRuns {
  return [{ run, through: openEnd }];
}

/** For the process that writes events: asks the writer, which stores at once while a reader waits. */
export function createWriterEventsStored(writers: {
  readonly measurement: StoringProgress;
  readonly chain: StoringProgress | null;
  readonly readChainRuns: ReadRuns;
}): EventsStored {
  return async (of, signal) => {
    const { source, evicted } = of;
    const writer = writers[source];
    if (writer === null) throw createUnavailable(source);
    const runs = source === 'chain' ? await writers.readChainRuns() : listMeasurementRuns(of);
    if (writer.storedThrough() >= evicted.atPosition) return runs;
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
    return runs;
  };
}

/**
 * For a process that only reads. Events are written in order of arrival, each after its places, so the newest evicted event shows that all are
 * stored. ClickHouse is asked each time, since the writing process may be storing them again.
 */
export function createReaderEventsStored(options: {
  readonly database: Database;
  readonly tables: ActiveTables;
  readonly readChainRuns: ReadRuns;
  readonly oldestRowMs?: OldestRowMs;
}): EventsStored {
  const { database, tables, readChainRuns, oldestRowMs = () => null } = options;
  return async (of, signal) => {
    const { source, evicted } = of;
    let runs = source === 'chain' ? await readChainRuns() : listMeasurementRuns(of);
    // Their rows may have aged out, and readers leave them out anyway.
    if (evicted.throughMs < (oldestRowMs() ?? Number.NEGATIVE_INFINITY)) return runs;
    const { position, ordinal } = evicted.through;
    const parameters = { categories: listStoredCategories('all', source), position, ordinal };
    const isSeen = async () => {
      const { measurementEvents, chainEvents } = tables();
      const { events } = source === 'measurement' ? measurementEvents : chainEvents;
      const visible = selectVisible(runs);
      const rows = await database.select(
        `SELECT 1 FROM ${events} WHERE ${visible.sql} AND category IN {categories:Array(String)}
         AND position = {position:Int64} AND ordinal = {ordinal:Int64} LIMIT 1`,
        { ...parameters, ...visible.parameters },
        signal,
      );
      if (rows.length > 0) return true;
      if (source === 'chain') runs = await readChainRuns(true);
      return false;
    };
    const wasSeen = await pollUntil(isSeen, { everyMs: pollMs, limitMs: awaitedMs, signal });
    if (!wasSeen) throw createUnavailable(source);
    return runs;
  };
}

function createUnavailable(source: EvictedSource['source']): StorageUnavailable {
  return new StorageUnavailable(`ClickHouse does not hold the older ${source} events yet`);
}
