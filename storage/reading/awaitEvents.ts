import { listStoredCategories } from '../../actors/feed/feedCategories.ts';
import { type EvictedSource, RecordsUnavailable } from '../../actors/pages/olderRows.ts';
import type { Database } from '../clickhouse/database.ts';
import { pollUntil } from '../clickhouse/pollUntil.ts';
import { selectVisible, type VisibleRuns } from '../runs/lineages.ts';
import type { ReadRuns } from '../runs/visibleRuns.ts';
import { chainEvents, measurementEvents } from '../tables/events.ts';

export interface StoringProgress {
  /** Stream position through which all rows are stored. */
  storedThrough(): number;
  /** Stores the waiting rows without gathering more. */
  flushNow(): void;
  /** Whether ClickHouse currently refuses rows. */
  isFailing(): boolean;
}

/** How long a reader waits for rows that are not stored yet: a writer gathers them for a second. */
const awaitedMs = 3_000;
export const pollMs = 25;

/**
 * Resolves once some rows are stored.
 *
 * @param what they are, for the error.
 * @throws RecordsUnavailable (as a rejection) if that takes too long, or at the signal.
 */
export async function awaitStored(
  isStored: () => boolean | Promise<boolean>,
  what: string,
  signal: AbortSignal,
): Promise<void> {
  const wasStored = await pollUntil(isStored, { everyMs: pollMs, limitMs: awaitedMs, signal });
  if (!wasStored) throw new RecordsUnavailable(`ClickHouse does not hold ${what} yet`);
}

/**
 * Resolves once ClickHouse holds all events that memory has evicted, with the runs that hold them.
 *
 * @throws RecordsUnavailable (as a rejection) if that takes too long, if ClickHouse refuses rows, or at the signal.
 */
export type AwaitEvents = (of: EvictedSource, signal: AbortSignal) => Promise<VisibleRuns>;

interface EventsWriter {
  readonly writer: StoringProgress;
  readonly readRuns: ReadRuns;
}

/** For the process that writes events: asks the writer, which stores at once while a reader waits. */
export function createAwaitByWriter(writers: {
  readonly measurement: EventsWriter;
  readonly chain: EventsWriter | null;
}): AwaitEvents {
  return async (of, signal) => {
    const { source, evicted } = of;
    const known = writers[source];
    if (known === null) throw new RecordsUnavailable(`this process stores no ${source} events`);
    const { writer } = known;
    const runs = await known.readRuns();
    const isStored = () => {
      if (writer.storedThrough() >= evicted.atPosition) return true;
      if (writer.isFailing()) throw new RecordsUnavailable('rows are not stored at the moment');
      writer.flushNow();
      return false;
    };
    await awaitStored(isStored, `the older ${source} events`, signal);
    return runs;
  };
}

/**
 * For a process that only reads. Events are written in order of arrival, each after its places, so the newest evicted event shows that all are
 * stored. ClickHouse is asked each time, since a newer history may not have them.
 */
export function createAwaitByReading(options: {
  readonly database: Database;
  readonly readRuns: { readonly measurement: ReadRuns; readonly chain: ReadRuns };
}): AwaitEvents {
  const { database, readRuns } = options;
  return async (of, signal) => {
    const { source, evicted } = of;
    let runs = await readRuns[source]();
    const { position, ordinal } = evicted.through;
    const parameters = { categories: listStoredCategories('all', source), position, ordinal };
    const isSeen = async () => {
      const { events } = source === 'measurement' ? measurementEvents : chainEvents;
      const visible = selectVisible(runs);
      const rows = await database.select(
        `SELECT 1 FROM ${events.name} WHERE ${visible.sql} AND category IN {categories:Array(String)}
         AND position = {position:Int64} AND ordinal = {ordinal:Int64} LIMIT 1`,
        { ...parameters, ...visible.parameters },
        signal,
      );
      if (rows.length > 0) return true;
      runs = await readRuns[source](true);
      return false;
    };
    await awaitStored(isSeen, `the older ${source} events`, signal);
    return runs;
  };
}
