import type { ObservationPage } from '../actors/views/views.ts';
import type { CounterReading } from '../actors/wheel/counterReading.ts';
import type { Database } from './database.ts';
import type { MayHaveReadings } from './knownInstallations.ts';
import type { ObservationReader } from './observationReader.ts';
import { createReadAhead, pagesAhead } from './readAhead.ts';
import type { Boundary, RecentReadings } from './recentReadings.ts';
import { createConsistentReads, removalNumber } from './removals.ts';
import { type OldestRowMs, selectNotOlder } from './rowsTtl.ts';
import { StorageUnavailable } from './storageUnavailable.ts';
import { readings } from './tables/readings.ts';
import type { ActiveTables, Tables } from './tables.ts';

interface ObservationReaderOptions {
  readonly recent: RecentReadings;
  readonly database: Database;
  readonly tables: ActiveTables;
  /** Whether ClickHouse holds every accepted reading up to the start of memory. */
  readonly isStoredThrough: (boundary: Boundary) => boolean | Promise<boolean>;
  /** If omitted, all rows are read. */
  readonly oldestRowMs?: OldestRowMs;
  /** Whether to ask ClickHouse for an installation; if omitted, always. */
  readonly mayHaveReadings?: MayHaveReadings;
}

/**
 * Positions that the first attempt at a page searches (about one mark), and the factor for each further attempt. A statement without an upper
 * end would read a mark of every later part, and each month adds parts.
 */
const firstSpan = 8_192;
const spanGrowth = 8;

interface PageQuery {
  readonly installationId: string;
  readonly afterPosition: number;
  readonly coversAbove: Boundary;
  readonly limit: number;
  readonly signal: AbortSignal;
}

interface SeekQuery extends Omit<PageQuery, 'coversAbove'> {
  readonly through: number;
}

/** Reads accepted readings of any age from memory, and older ones from ClickHouse. */
export function createObservationReader(options: ObservationReaderOptions): ObservationReader {
  const {
    recent,
    database,
    tables,
    isStoredThrough,
    oldestRowMs = () => null,
    mayHaveReadings = () => true,
  } = options;
  const readConsistently = createConsistentReads(database);
  const ahead = createReadAhead();

  return {
    page: (installationId, afterPosition, limit, signal) => {
      const coversAbove = recent.coversAbove();
      if (afterPosition >= coversAbove.position)
        return cutPage(recent.page(installationId, afterPosition, limit + 1), limit);
      // Memory is read now, and ClickHouse up to the current start of memory, so no evicted reading is missed.
      const newest = recent.page(installationId, coversAbove.position, limit + 1);
      const query = { installationId, afterPosition, coversAbove, limit, signal };
      const mayHaveOlder = mayHaveReadings(installationId);
      if (mayHaveOlder === false) return cutPage(newest, limit);
      if (mayHaveOlder === true) return readWithOlder(query, newest);
      return mayHaveOlder.then((mayHave) =>
        mayHave ? readWithOlder(query, newest) : cutPage(newest, limit),
      );
    },
  };

  function readWithOlder(query: PageQuery, newest: ObservationPage['items']): Promise<ObservationPage> {
    return readConsistently((removal) => readOlder(query, newest, removal));
  }

  async function readOlder(
    { installationId, afterPosition, coversAbove, limit, signal }: PageQuery,
    newest: ObservationPage['items'],
    removal: number | null,
  ): Promise<ObservationPage> {
    const source = removal === null ? null : { table: tables().readings, removal, installationId };
    const oldestMs = oldestRowMs();
    const kept = source && ahead.find({ ...source, afterPosition, limit: limit + 1, oldestMs });
    if (kept?.readings) return cutPage(kept.readings, limit);
    if (!(await isStoredThrough(coversAbove))) {
      throw new StorageUnavailable(
        `ClickHouse does not hold the readings up to position ${coversAbove.position} yet`,
      );
    }
    const through = coversAbove.position;
    const pages = kept?.isContinued ? pagesAhead : 1;
    const query = { installationId, afterPosition, through, limit: limit * pages + 1, signal };
    const older = await seekReadings(query);
    if (source !== null) ahead.keep({ ...source, after: afterPosition, readings: older });
    return cutPage([...older, ...newest], limit);
  }

  /** The first `limit` readings above a position and up to another, ascending. */
  async function seekReadings(query: SeekQuery): Promise<CounterReading[]> {
    const { installationId: installation, limit, signal } = query;
    // A batch that was sent twice may not be merged yet. Rows of one position are identical.
    const found = new Map<number, CounterReading>();
    const notOlder = selectNotOlder('received_at', oldestRowMs());
    let after = query.afterPosition;
    for (let span = firstSpan; found.size < limit && after < query.through; span *= spanGrowth) {
      const through = Math.min(after + span, query.through);
      const rows = await database.select(
        `SELECT ${readings.list} FROM ${tables().readings}
         WHERE installation_id = {installation:String} AND position > {after:UInt64} AND position <= {through:UInt64}${notOlder.sql}
         ORDER BY position LIMIT {limit:UInt32}`,
        { installation, after, through, limit, ...notOlder.parameters },
        signal,
      );
      const readingsFound = rows.map(readings.read);
      for (const reading of readingsFound) found.set(reading.position, reading);
      after = rows.length < limit ? through : (readingsFound.at(-1)?.position ?? through);
    }
    return [...found.values()].slice(0, limit);
  }
}

function cutPage(found: ObservationPage['items'], limit: number): ObservationPage {
  return { items: found.slice(0, limit), more: found.length > limit };
}

const positionsAtOnce = 20_000;

/** Stored readings within a range of positions and not older than a time, in order, some thousands at a time. */
export async function* readStored(
  database: Database,
  tables: Tables,
  {
    after,
    through,
    oldestMs,
  }: { readonly after: number; readonly through: number; readonly oldestMs: number | null },
): AsyncIterable<readonly CounterReading[]> {
  const notOlder = selectNotOlder('received_at', oldestMs);
  for (let above = after; above < through; above += positionsAtOnce) {
    const upTo = Math.min(above + positionsAtOnce, through);
    const rows = await database.select(
      `SELECT ${readings.list} FROM ${tables.readings}
       WHERE position > {above:UInt64} AND position <= {through:UInt64}${notOlder.sql} ORDER BY position LIMIT 1 BY position`,
      { above, through: upTo, ...notOlder.parameters },
    );
    if (rows.length > 0) yield rows.map(readings.read);
  }
}

interface StoredProgress {
  /** Memory never evicts a reading above this position, which may not be stored yet. */
  storedThrough(): number;
  isStoredThrough(boundary: Boundary): boolean | Promise<boolean>;
  /** Called when a snapshot of `position` was restored: all readings below it are stored, later ones perhaps not. */
  onReset?(position: number): void;
}

/** For the process that writes readings. */
export function createWriterStoredThrough(writer: Pick<StoredProgress, 'storedThrough'>): StoredProgress {
  return {
    storedThrough: writer.storedThrough,
    isStoredThrough: ({ position }) => position <= writer.storedThrough(),
  };
}

const places = readings.select('position', 'telemetryId');

/** The stored reading of the largest position; null if none is stored. */
export async function readNewestReading(
  database: Database,
  { readings: table }: Tables,
): Promise<Pick<CounterReading, 'position' | 'telemetryId'> | null> {
  const [row] = await database.select(
    `SELECT ${places.list} FROM ${table} WHERE position = (SELECT max(position) FROM ${table}) LIMIT 1`,
  );
  return row === undefined ? null : places.read(row);
}

const receipts = readings.select('position', 'receivedAtMs');

/** The stored reading of the smallest position that is not older than a time; null without one. */
export async function oldestStoredReading(
  database: Database,
  { readings: table }: Tables,
  oldestMs: number | null,
): Promise<Pick<CounterReading, 'position' | 'receivedAtMs'> | null> {
  const notOlder = selectNotOlder('received_at', oldestMs);
  const [row] = await database.select(
    `SELECT ${receipts.list} FROM ${table} WHERE true${notOlder.sql} ORDER BY position LIMIT 1`,
    notOlder.parameters,
  );
  return row === undefined ? null : receipts.read(row);
}

/** Largest position of a stored reading; 0 if none is stored. */
export async function storedThrough(database: Database, tables: Tables): Promise<number> {
  const [row] = await database.select(`SELECT max(position) FROM ${tables.readings}`);
  return Number(row?.[0] ?? 0);
}

/**
 * For a process that only reads. Rows are stored in the order of the stream: if the last evicted reading is stored, so is everything below it.
 * A different reading at its position means that the stream has lost its end, and that row will be removed. The result stays valid until rows
 * are removed.
 */
export function createStoredThroughQuery(
  database: Database,
  tables: ActiveTables,
  oldestRowMs: OldestRowMs = () => null,
): StoredProgress {
  let known = 0;
  let knownIn = 0;
  return {
    // Another process stores the readings.
    storedThrough: () => Number.MAX_SAFE_INTEGER,
    isStoredThrough: async ({ evicted }) => {
      const removals = await removalNumber(database);
      if (removals !== knownIn) known = 0;
      knownIn = removals;
      if (evicted === null || evicted.position <= known) return true;
      const { installationId, telemetryId, position, receivedAtMs } = evicted;
      // Its row may have aged out, and readers leave out all rows up to it.
      if (receivedAtMs < (oldestRowMs() ?? Number.NEGATIVE_INFINITY)) return true;
      const found = await database.select(
        `SELECT position FROM ${tables().readings} WHERE installation_id = {installation:String}
         AND position = {position:UInt64} AND telemetry_id = {telemetry:UUID} LIMIT 1`,
        { installation: installationId, position, telemetry: telemetryId },
      );
      if (found.length === 0) return false;
      known = Math.max(known, position);
      return true;
    },
    onReset: (position) => {
      known = position;
    },
  };
}
