import type { AcceptedReading, ObservationPage } from '../actors/views/views.ts';
import type { Database } from './database.ts';
import type { ObservationReader } from './observationReader.ts';
import type { Boundary, RecentReadings } from './recentReadings.ts';
import { readConsistently, removalNumber } from './removals.ts';
import { StorageUnavailable } from './storageUnavailable.ts';
import { readings } from './tables/readings.ts';
import type { ActiveTables, Tables } from './tables.ts';
import { sqlString } from './tabSeparated.ts';

export interface ObservationReaderOptions {
  readonly recent: RecentReadings;
  readonly database: Database;
  readonly tables: ActiveTables;
  /** Whether ClickHouse holds every accepted reading up to the place where memory begins. */
  readonly isStoredThrough: (boundary: Boundary) => boolean | Promise<boolean>;
}

interface PageQuery {
  readonly installationId: string;
  readonly afterPosition: number;
  readonly coversAbove: Boundary;
  readonly limit: number;
  readonly signal: AbortSignal;
}

/** Pages of accepted readings of any age, from memory where it holds them, else from ClickHouse and memory. */
export function createObservationReader(options: ObservationReaderOptions): ObservationReader {
  const { recent, database, tables, isStoredThrough } = options;

  return {
    page: (installationId, afterPosition, limit, signal) => {
      const coversAbove = recent.coversAbove();
      if (afterPosition >= coversAbove.position)
        return cutPage(recent.page(installationId, afterPosition, limit + 1), limit);
      // Memory is read now and ClickHouse up to where memory began: what is evicted meanwhile is in one of the two.
      const newest = recent.page(installationId, coversAbove.position, limit + 1);
      return readWithOlder({ installationId, afterPosition, coversAbove, limit, signal }, newest);
    },
  };

  function readWithOlder(query: PageQuery, newest: ObservationPage['items']): Promise<ObservationPage> {
    return readConsistently(database, () => readOlder(query, newest));
  }

  async function readOlder(
    { installationId, afterPosition, coversAbove, limit, signal }: PageQuery,
    newest: ObservationPage['items'],
  ): Promise<ObservationPage> {
    if (!(await isStoredThrough(coversAbove))) {
      throw new StorageUnavailable(
        `ClickHouse does not hold the readings up to position ${coversAbove.position} yet`,
      );
    }
    // A batch that was sent twice may not be merged yet; versions of one position are the same bytes.
    const rows = await database.select(
      `SELECT ${readings.list} FROM ${tables().readings}
       WHERE installation_id = ${sqlString(installationId)} AND position > ${afterPosition} AND position <= ${coversAbove.position}
       ORDER BY position LIMIT 1 BY position LIMIT ${limit + 1}`,
      signal,
    );
    return cutPage([...rows.map(readings.read), ...newest], limit);
  }
}

function cutPage(found: ObservationPage['items'], limit: number): ObservationPage {
  return { items: found.slice(0, limit), more: found.length > limit };
}

/** Rows that are read at once, by the positions that they may have. */
const positionsAtOnce = 20_000;

/** All accepted readings above a position and up to another, in order, some thousands at a time. */
export async function* readStored(
  database: Database,
  tables: Tables,
  after: number,
  through: number,
): AsyncIterable<readonly AcceptedReading[]> {
  for (let above = after; above < through; above += positionsAtOnce) {
    const upTo = Math.min(above + positionsAtOnce, through);
    const rows = await database.select(
      `SELECT ${readings.list} FROM ${tables.readings} WHERE position > ${above} AND position <= ${upTo}
       ORDER BY position LIMIT 1 BY position`,
    );
    if (rows.length > 0) yield rows.map(readings.read);
  }
}

/** What a read replica knows of how far another process has stored readings. */
export interface StoredThroughQuery {
  isStoredThrough(boundary: Boundary): Promise<boolean>;
  /** A snapshot of `position` was restored: everything below was stored before it, and nothing above is certain. */
  restoredAt(position: number): void;
}

const places = readings.select('position', 'telemetryId');

/** The stored reading of the largest position; null without any. */
export async function newestReading(
  database: Database,
  { readings: table }: Tables,
): Promise<Pick<AcceptedReading, 'position' | 'telemetryId'> | null> {
  const [row] = await database.select(
    `SELECT ${places.list} FROM ${table} WHERE position = (SELECT max(position) FROM ${table}) LIMIT 1`,
  );
  return row === undefined ? null : places.read(row);
}

/** Largest position of a stored reading; 0 without any. */
export async function storedThrough(database: Database, tables: Tables): Promise<number> {
  const [row] = await database.select(`SELECT max(position) FROM ${tables.readings}`);
  return Number(row?.[0] ?? 0);
}

/**
 * Rows are stored in the order of the stream, so where the very reading that memory evicted last is stored, everything below it is. Another
 * reading at its position is of a stream that has lost its end since, and is about to be removed. What was found stays true until rows are
 * removed.
 */
export function createStoredThroughQuery(database: Database, tables: ActiveTables): StoredThroughQuery {
  let known = 0;
  let knownIn = 0;
  return {
    isStoredThrough: async ({ evicted }) => {
      const removals = await removalNumber(database);
      if (removals !== knownIn) known = 0;
      knownIn = removals;
      if (evicted === null || evicted.position <= known) return true;
      const { installationId, telemetryId, position } = evicted;
      const found = await database.select(
        `SELECT position FROM ${tables().readings} WHERE installation_id = ${sqlString(installationId)}
         AND position = ${position} AND telemetry_id = ${sqlString(telemetryId)} LIMIT 1`,
      );
      if (found.length === 0) return false;
      known = Math.max(known, position);
      return true;
    },
    restoredAt: (position) => {
      known = position;
    },
  };
}
