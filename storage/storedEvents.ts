import { type Arrival, compareArrivals, formatArrival } from '../actors/events/arrival.ts';
import type { StoredCategory } from '../actors/feed/feedCategories.ts';
import { compareShown, type FeedPlace } from '../actors/feed/feedItem.ts';
import { type EvictedSource, listStoredCategories, type OlderEvents } from '../actors/feed/olderEvents.ts';
import type { Database, QueryParameters } from './database.ts';
import type { EventsStored } from './eventsStored.ts';
import { createConsistentReads } from './removals.ts';
import { type OldestRowMs, selectNotOlder } from './rowsTtl.ts';
import { measurementEvents } from './tables/events.ts';
import type { ColumnSelection } from './tables/table.ts';
import type { ActiveTables, EventTables, Tables } from './tables.ts';

interface StoredEventsOptions {
  readonly database: Database;
  readonly tables: ActiveTables;
  readonly eventsStored: EventsStored;
  /** If omitted, all rows are read. */
  readonly oldestRowMs?: OldestRowMs;
}

/** The tables of both sources have the same columns. */
const shownPlaces = measurementEvents.times.select('recordedAtMs', 'position', 'ordinal');
const arrivalPlaces = measurementEvents.events.select('position', 'ordinal');
const arrivalPlacesById = measurementEvents.ids.select('position', 'ordinal', 'arrivedAtMs');

/**
 * Events of the feed that memory has evicted, from ClickHouse. Every statement reads a few marks next to a place in the order of its table: a server
 * stops early if it sorts along the whole key and nothing, such as LIMIT BY, stands before LIMIT.
 */
export function createStoredEvents(options: StoredEventsOptions): OlderEvents {
  const { database, tables, eventsStored, oldestRowMs = () => null } = options;
  const readConsistently = createConsistentReads(database);
  const older: OlderEvents = {
    before: async (of, { categories, place, limit }, signal) => {
      await eventsStored(of, signal);
      const { times } = selectTables(tables(), of);
      const notOlder = selectNotOlder('recorded_at', oldestRowMs());
      const arrivals = await seekEach(categories, limit, async (category, after: FeedPlace | null) => {
        const next = after ?? place;
        const rows = await select(
          shownPlaces,
          `FROM ${times}
           WHERE ${isOfRunAndCategory} AND ${isEvicted}${next === null ? '' : ` AND ${isShownAfter(next, of)}`}${notOlder.sql}
           ORDER BY recorded_at DESC, position DESC, ordinal DESC LIMIT {limit:UInt32}`,
          {
            ...evictedParameters(of),
            ...(next !== null && {
              placeMs: next.recordedAtMs,
              place: next.position,
              placeOrdinal: next.ordinal,
            }),
            ...notOlder.parameters,
            category,
            limit,
          },
          signal,
        );
        return rows.map((row): FeedPlace => ({ ...row, source: of.source }));
      });
      return eventsAt(of, arrivals.sort(compareShown).slice(0, limit), signal);
    },

    after: async (of, { categories, arrival, limit }, signal) => {
      await eventsStored(of, signal);
      const { events } = selectTables(tables(), of);
      const notOlder = selectNotOlder('recorded_at', oldestRowMs());
      const arrivals = await seekEach(categories, limit, (category, after: Arrival | null) => {
        const { position, ordinal } = after ?? arrival;
        return select(
          arrivalPlaces,
          `FROM ${events}
           WHERE ${isOfRunAndCategory} AND ${isEvicted}
           AND (position > {position:Int64} OR (position = {position:Int64} AND ordinal > {ordinal:Int64}))${notOlder.sql}
           ORDER BY position, ordinal LIMIT {limit:UInt32}`,
          { ...evictedParameters(of), ...notOlder.parameters, category, position, ordinal, limit },
          signal,
        );
      });
      return eventsAt(of, arrivals.sort(compareArrivals).slice(0, limit), signal);
    },

    find: async (of, id, signal) => {
      await eventsStored(of, signal);
      const { ids } = selectTables(tables(), of);
      const found = await select(
        arrivalPlacesById,
        `FROM ${ids} WHERE run = {run:String} AND id = {id:String} AND ${isEvicted} LIMIT 1`,
        { ...evictedParameters(of), id },
        signal,
      );
      return found[0] ?? null;
    },

    lastBefore: async (of, timeMs, signal) => {
      await eventsStored(of, signal);
      const { events } = selectTables(tables(), of);
      const found = await Promise.all(
        listStoredCategories('all', of.source).map((category) =>
          select(
            arrivalPlaces,
            `FROM ${events}
             WHERE ${isOfRunAndCategory} AND ${isEvicted}
             AND arrived_at < fromUnixTimestamp64Milli({timeMs:Int64}, 'UTC')
             ORDER BY position DESC, ordinal DESC LIMIT 1`,
            { ...evictedParameters(of), category, timeMs },
            signal,
          ),
        ),
      );
      return found.flat().sort(compareArrivals).at(-1) ?? null;
    },
  };
  return {
    before: (...query) => readConsistently(() => older.before(...query)),
    after: (...query) => readConsistently(() => older.after(...query)),
    find: (...query) => readConsistently(() => older.find(...query)),
    lastBefore: (...query) => readConsistently(() => older.lastBefore(...query)),
  };

  async function select<Row>(
    { list, read }: ColumnSelection<Row>,
    from: string,
    parameters: QueryParameters,
    signal: AbortSignal,
  ): Promise<Row[]> {
    return (await database.select(`SELECT ${list} ${from}`, parameters, signal)).map(read);
  }

  /** The events at places, in the same order. */
  async function eventsAt(of: EvictedSource, arrivals: readonly Arrival[], signal: AbortSignal) {
    if (arrivals.length === 0) return [];
    const { events } = selectTables(tables(), of);
    const found = await select(
      measurementEvents.events,
      // With all columns of the key named, a server reads only the marks of the places.
      `FROM ${events} WHERE run = {run:String} AND category IN {categories:Array(String)}
       AND (position, ordinal) IN arrayZip({positions:Array(UInt64)}, {ordinals:Array(UInt32)})`,
      {
        run: of.run,
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

/**
 * At most `limit` places of each category. Unmerged duplicates may leave too few, so it resumes after the last one.
 */
async function seekEach<Place extends Arrival>(
  categories: readonly StoredCategory[],
  limit: number,
  seek: (category: StoredCategory, after: Place | null) => Promise<readonly Place[]>,
): Promise<Place[]> {
  const found = await Promise.all(
    categories.map(async (category) => {
      const places = new Map<string, Place>();
      for (let after: Place | null = null; places.size < limit; ) {
        const rows = await seek(category, after);
        for (const place of rows) places.set(formatArrival(place), place);
        after = rows.at(-1) ?? null;
        if (rows.length < limit) break;
      }
      return [...places.values()].slice(0, limit);
    }),
  );
  return found.flat();
}

function selectTables({ measurementEvents, chainEvents }: Tables, { source }: EvictedSource): EventTables {
  return source === 'measurement' ? measurementEvents : chainEvents;
}

const isOfRunAndCategory = 'run = {run:String} AND category = {category:String}';

/** Later stored events, of another process or of this one before a restart, are in memory too. */
const isEvicted =
  '(position < {through:Int64} OR (position = {through:Int64} AND ordinal <= {throughOrdinal:Int64}))';

function evictedParameters({ run, evicted: { through } }: EvictedSource): QueryParameters {
  return { run, through: through.position, throughOrdinal: through.ordinal };
}

/** SQL condition for events that the feed shows after a place. If times are equal, events of the chain come before measurements. */
function isShownAfter({ source }: FeedPlace, of: EvictedSource): string {
  const time = "fromUnixTimestamp64Milli({placeMs:Int64}, 'UTC')";
  if (source !== of.source) return `recorded_at ${source === 'chain' ? '<=' : '<'} ${time}`;
  return `(recorded_at < ${time} OR (recorded_at = ${time}
    AND (position < {place:Int64} OR (position = {place:Int64} AND ordinal < {placeOrdinal:Int64}))))`;
}
