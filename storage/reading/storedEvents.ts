import { type Arrival, beforeFirst, compareArrivals, formatArrival } from '../../actors/events/arrival.ts';
import type { EventRow } from '../../actors/feed/eventRows.ts';
import {
  compareShown,
  type FeedPlace,
  type FeedSource,
  listStoredCategories,
} from '../../actors/feed/feedItem.ts';
import type { EvictedSource, OlderEvents } from '../../actors/pages/olderRows.ts';
import type { Database, QueryParameters, RowCondition } from '../clickhouse/database.ts';
import type { ColumnSelection } from '../definition/table.ts';
import { selectNotOlder } from '../rows/readingsTtl.ts';
import { type LineageRun, type LineageRuns, selectRun, selectRuns } from '../runs/lineages.ts';
import { runsMax } from '../runs/mergedRuns.ts';
import { chainEvents, type EventTables, measurementEvents } from '../tables/events.ts';
import type { AwaitRows } from './awaitRows.ts';
import { createKeptReads } from './keptReads.ts';

const tables: Readonly<Record<FeedSource, EventTables>> = {
  measurement: measurementEvents,
  chain: chainEvents,
};
/** The tables of both sources have the same columns. */
const shownPlaces = measurementEvents.keys.select('recordedAtMs', 'position', 'ordinal');
const arrivalPlaces = measurementEvents.events.select('position', 'ordinal');

/** Pages of each source that are kept: about 20 MB if all have 100 events. */
const pagesKeptMax = 128;

type BeforeQuery = Parameters<OlderEvents['before']>[1];
type AfterQuery = Parameters<OlderEvents['after']>[1];

/**
 * Events of the feed that memory has evicted, from ClickHouse. Every statement reads a few marks next to a place in the order of its table: a server
 * stops early if it sorts along the whole key and nothing, such as LIMIT BY, stands before LIMIT.
 */
export function createStoredEvents(options: {
  readonly database: Database;
  readonly awaitRows: Readonly<Record<FeedSource, AwaitRows>>;
}): OlderEvents {
  const { database, awaitRows } = options;
  const readTimes = createRunTimes(database);
  /** Nothing is stored any more below the newest evicted event, so pages are final. */
  const pages = {
    measurement: createKeptReads<readonly EventRow[]>(pagesKeptMax),
    chain: createKeptReads<readonly EventRow[]>(pagesKeptMax),
  };
  return {
    before: async (of, query, signal) => {
      const runs = await awaitEvicted(of, signal);
      const key = `${formatArrival(of.evicted.through)} ${JSON.stringify(query)}`;
      const kept = pages[of.source];
      return kept.find(runs, key) ?? kept.add(runs, key, await readBefore(of, runs, query, signal));
    },
    after: readAfter,
  };

  async function readAfter(
    of: EvictedSource,
    { categories, place, limit }: AfterQuery,
    signal: AbortSignal,
  ): Promise<readonly EventRow[] | null> {
    const runs = await awaitEvicted(of, signal);
    if (place !== null) {
      const [found] = await eventsAt(of, runs, [place], signal);
      if (found?.arrivedAtMs !== place.storedAtMs) return null;
    }
    const from = place ?? beforeFirst;
    const { events } = tables[of.source];
    let arrivals: Arrival[] = [];
    // Events are stored in the order of their arrival, so each run has later ones than the run before, except those that both have.
    for (const run of runs) {
      if (run.through < from.position) continue;
      if (arrivals.length >= limit) break;
      const found = await seekEach(
        listOrders(run, 'category', categories),
        limit,
        (order, after: Arrival | null) => {
          const { position, ordinal } = after ?? from;
          return select(
            arrivalPlaces,
            `FROM ${events.name}
           WHERE ${order.sql} AND ${isEvicted}
           AND (position > {position:Int64} OR (position = {position:Int64} AND ordinal > {ordinal:Int64}))
           ORDER BY position, ordinal LIMIT {limit:UInt32}`,
            {
              ...evictedParameters(of),
              ...order.parameters,
              position,
              ordinal,
              limit,
            },
            signal,
          );
        },
      );
      arrivals = takeOnce([...arrivals, ...found]).sort(compareArrivals);
    }
    return eventsAt(of, runs, arrivals.slice(0, limit), signal);
  }

  async function readBefore(
    of: EvictedSource,
    runs: LineageRuns,
    { keys: wanted, place, fromMs, limit }: BeforeQuery,
    signal: AbortSignal,
  ): Promise<readonly EventRow[]> {
    const { keys } = tables[of.source];
    const oldestMs = fromMs ?? Number.NEGATIVE_INFINITY;
    const notOlder = selectNotOlder('recorded_at', fromMs);
    let arrivals: FeedPlace[] = [];
    for (const [at, run] of runs.toReversed().entries()) {
      // All runs but the newest one have all of their rows.
      const span = at === 0 ? everyTime : await readTimes(keys.name, run);
      const last = arrivals.length < limit ? null : arrivals[limit - 1];
      const isBefore = span.toMs < Math.max(oldestMs, last?.recordedAtMs ?? Number.NEGATIVE_INFINITY);
      const isAfter = place !== null && span.fromMs > place.recordedAtMs;
      if (isBefore || isAfter) continue;
      const found = await seekEach(
        listOrders(run, 'key', wanted),
        limit,
        async (order, after: FeedPlace | null) => {
          const next = after ?? place;
          const rows = await select(
            shownPlaces,
            `FROM ${keys.name}
           WHERE ${order.sql} AND ${isEvicted}${next === null ? '' : ` AND ${isShownAfter(next, of)}`}${notOlder.sql}
           ORDER BY recorded_at DESC, position DESC, ordinal DESC LIMIT {limit:UInt32}`,
            {
              ...evictedParameters(of),
              ...(next !== null && {
                placeMs: next.recordedAtMs,
                place: next.position,
                placeOrdinal: next.ordinal,
              }),
              ...notOlder.parameters,
              ...order.parameters,
              limit,
            },
            signal,
          );
          return rows.map((row): FeedPlace => ({ ...row, source: of.source }));
        },
      );
      arrivals = takeOnce([...arrivals, ...found]).sort(compareShown);
    }
    return eventsAt(of, runs, arrivals.slice(0, limit), signal);
  }

  function awaitEvicted({ source, evicted }: EvictedSource, signal: AbortSignal): Promise<LineageRuns> {
    const { through, atPosition } = evicted;
    const condition = {
      sql: 'category IN {categories:Array(String)} AND position = {position:Int64} AND ordinal = {ordinal:Int64}',
      parameters: {
        position: through.position,
        ordinal: through.ordinal,
        categories: listStoredCategories('all', source),
      },
    };
    const table = tables[source].events.name;
    return awaitRows[source]({ position: atPosition, row: { entry: through, table, condition } }, signal);
  }

  async function select<Row>(
    { list, read }: ColumnSelection<Row>,
    from: string,
    parameters: QueryParameters,
    signal: AbortSignal,
  ): Promise<Row[]> {
    return (await database.select(`SELECT ${list} ${from}`, parameters, signal)).map(read);
  }

  /** The events at places, in the same order. */
  async function eventsAt(
    of: EvictedSource,
    runs: LineageRuns,
    arrivals: readonly Arrival[],
    signal: AbortSignal,
  ) {
    if (arrivals.length === 0) return [];
    const { events } = tables[of.source];
    const runCondition = selectRuns(runs);
    const found = await select(
      measurementEvents.events,
      // With all columns of the key named, a server reads only the marks of the places.
      `FROM ${events.name} WHERE ${runCondition.sql} AND category IN {categories:Array(String)}
       AND (position, ordinal) IN arrayZip({positions:Array(UInt64)}, {ordinals:Array(UInt32)})`,
      {
        ...runCondition.parameters,
        categories: listStoredCategories('all', of.source),
        positions: arrivals.map(({ position }) => position),
        ordinals: arrivals.map(({ ordinal }) => ordinal),
      },
      signal,
    );
    const byPlace = new Map(found.map((event) => [formatArrival(event), event]));
    return arrivals.flatMap((arrival) => byPlace.get(formatArrival(arrival)) ?? []);
  }
}

/** A fold stores an event once more after a reorganization, perhaps in another run. */
function takeOnce<Place extends Arrival>(places: readonly Place[]): Place[] {
  return [...new Map(places.map((place) => [formatArrival(place), place])).values()];
}

/** Rows of one run and value of a column are stored in the order of a page, so each is read by itself. */
function listOrders(run: LineageRun, column: 'category' | 'key', values: readonly string[]): RowCondition[] {
  const { sql, parameters } = selectRun(run);
  return values.map((value) => ({
    sql: `${sql} AND ${column} = {value:String}`,
    parameters: { ...parameters, value },
  }));
}

/** The times of the first and the last event of a run; a run without events has no time. */
interface TimeSpan {
  readonly fromMs: number;
  readonly toMs: number;
}

const everyTime: TimeSpan = { fromMs: Number.NEGATIVE_INFINITY, toMs: Number.POSITIVE_INFINITY };

/** Reads the times of runs that have all of their rows, each once. */
function createRunTimes(database: Database) {
  const known = new Map<string, TimeSpan>();
  return async (table: string, run: LineageRun): Promise<TimeSpan> => {
    const key = `${table} ${run.run} ${run.through}`;
    const found = known.get(key);
    if (found !== undefined) return found;
    const { sql, parameters } = selectRun(run);
    const [row] = await database.select(
      `SELECT count(), min(toUnixTimestamp64Milli(recorded_at)), max(toUnixTimestamp64Milli(recorded_at)) FROM ${table} WHERE ${sql}`,
      parameters,
    );
    const [count = 0, fromMs = 0, toMs = 0] = (row ?? []).map(Number);
    const span =
      count === 0 ? { fromMs: Number.POSITIVE_INFINITY, toMs: Number.NEGATIVE_INFINITY } : { fromMs, toMs };
    if (known.size >= runsMax) known.clear();
    known.set(key, span);
    return span;
  };
}

/**
 * At most `limit` places of each order. Unmerged duplicates may leave too few, so it resumes after the last one.
 */
async function seekEach<Place extends Arrival>(
  orders: readonly RowCondition[],
  limit: number,
  seek: (order: RowCondition, after: Place | null) => Promise<readonly Place[]>,
): Promise<Place[]> {
  const found = await Promise.all(
    orders.map(async (order) => {
      const places = new Map<string, Place>();
      for (let after: Place | null = null; places.size < limit; ) {
        const rows = await seek(order, after);
        for (const place of rows) places.set(formatArrival(place), place);
        after = rows.at(-1) ?? null;
        if (rows.length < limit) break;
      }
      return [...places.values()].slice(0, limit);
    }),
  );
  return found.flat();
}

/** Later stored events, of another process or of this one before a restart, are in memory too. */
const isEvicted =
  '(position < {through:Int64} OR (position = {through:Int64} AND ordinal <= {throughOrdinal:Int64}))';

function evictedParameters({ evicted: { through } }: EvictedSource): QueryParameters {
  return { through: through.position, throughOrdinal: through.ordinal };
}

/** SQL condition for events that the feed shows after a place. If times are equal, events of the chain come before measurements. */
function isShownAfter({ source }: FeedPlace, of: EvictedSource): string {
  const time = "fromUnixTimestamp64Milli({placeMs:Int64}, 'UTC')";
  if (source !== of.source) return `recorded_at ${source === 'chain' ? '<=' : '<'} ${time}`;
  return `(recorded_at < ${time} OR (recorded_at = ${time}
    AND (position < {place:Int64} OR (position = {place:Int64} AND ordinal < {placeOrdinal:Int64}))))`;
}
