import {
  type ObservationPage,
  type ObservationReader,
  RecordsUnavailable,
} from '../../actors/pages/olderRows.ts';
import type { CounterReading } from '../../actors/wheel/counterReading.ts';
import type { Database } from '../clickhouse/database.ts';
import { type OldestReadingMs, selectNotOlder } from '../rows/readingsTtl.ts';
import {
  isSameHistory,
  selectMessages,
  selectVisible,
  selectWithin,
  type VisibleRuns,
} from '../runs/lineages.ts';
import type { ReadRuns } from '../runs/visibleRuns.ts';
import { readings } from '../tables/readings.ts';
import type { MayHaveReadings } from './knownInstallations.ts';
import { createReadAhead, pagesAhead } from './readAhead.ts';
import type { Boundary, RecentReadings } from './recentReadings.ts';

interface ObservationReaderOptions {
  readonly recent: RecentReadings;
  readonly database: Database;
  readonly readRuns: ReadRuns;
  readonly isStoredThrough: StoredProgress['isStoredThrough'];
  /** If omitted, all rows are read. */
  readonly oldestReadingMs?: OldestReadingMs;
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

/** Reads accepted readings of any age from memory, and older ones from ClickHouse. */
export function createObservationReader(options: ObservationReaderOptions): ObservationReader {
  const {
    recent,
    database,
    readRuns,
    isStoredThrough,
    oldestReadingMs = () => null,
    mayHaveReadings = () => true,
  } = options;
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

  async function readWithOlder(
    { installationId, afterPosition, coversAbove, limit, signal }: PageQuery,
    newest: ObservationPage['items'],
  ): Promise<ObservationPage> {
    const known = await readRuns();
    const oldestMs = oldestReadingMs();
    const kept = ahead.find({ runs: known, installationId, afterPosition, limit: limit + 1, oldestMs });
    if (kept.readings !== null) return cutPage(kept.readings, limit);
    const runs = await findStored(coversAbove, known);
    const through = coversAbove.position;
    const pages = kept.isContinued ? pagesAhead : 1;
    const query = { runs, installationId, afterPosition, through, limit: limit * pages + 1, signal };
    const older = await seekReadings(query);
    ahead.keep({ runs, installationId, after: afterPosition, readings: older });
    return cutPage([...older, ...newest], limit);
  }

  /** The runs that hold every accepted reading up to the start of memory: the known ones, or those noted since. */
  async function findStored(coversAbove: Boundary, known: VisibleRuns): Promise<VisibleRuns> {
    if (await isStoredThrough(coversAbove, known)) return known;
    const runs = await readRuns(true);
    if (await isStoredThrough(coversAbove, runs)) return runs;
    throw new RecordsUnavailable(
      `ClickHouse does not hold the readings up to position ${coversAbove.position} yet`,
    );
  }

  /** The first `limit` readings above a position and up to another, ascending. */
  async function seekReadings(
    query: Omit<PageQuery, 'coversAbove'> & { readonly runs: VisibleRuns; readonly through: number },
  ): Promise<CounterReading[]> {
    const { runs, installationId: installation, limit, signal } = query;
    // A batch that was sent twice may not be merged yet. Rows of one run and position are identical.
    const found = new Map<number, CounterReading>();
    const notOlder = selectNotOlder('received_at', oldestReadingMs());
    let after = query.afterPosition;
    let span = firstSpan;
    for (const { run, through: end } of selectWithin(runs, after, query.through))
      for (; found.size < limit && after < Math.min(end, query.through); span *= spanGrowth) {
        const through = Math.min(after + span, end, query.through);
        const rows = await database.select(
          `SELECT ${readings.list} FROM ${readings.name}
           WHERE run = {run:String} AND installation_id = {installation:String}
           AND position > {after:UInt64} AND position <= {through:UInt64}${notOlder.sql}
           ORDER BY position LIMIT {limit:UInt32}`,
          { run, installation, after, through, limit, ...notOlder.parameters },
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

interface StoredRange {
  readonly runs: VisibleRuns;
  readonly after: number;
  readonly through: number;
  readonly oldestMs: number | null;
}

/** Stored readings within a range of positions and not older than a time, in order, some thousands at a time. */
export async function* readStored(
  database: Database,
  { runs, after, through, oldestMs }: StoredRange,
): AsyncIterable<readonly CounterReading[]> {
  const notOlder = selectNotOlder('received_at', oldestMs);
  for (let above = after; above < through; above += positionsAtOnce) {
    const upTo = Math.min(above + positionsAtOnce, through);
    const stored = selectMessages(selectWithin(runs, above, upTo), { after: above, through: upTo });
    const rows = await database.select(
      `SELECT ${readings.list} FROM ${readings.name} WHERE ${stored.sql}${notOlder.sql}
       ORDER BY position LIMIT 1 BY position`,
      { ...stored.parameters, ...notOlder.parameters },
    );
    if (rows.length > 0) yield rows.map(readings.read);
  }
}

interface StoredProgress {
  /** Memory never evicts a reading above this position, which may not be stored yet. */
  storedThrough(): number;
  /** Whether ClickHouse holds every accepted reading up to the start of memory, in some runs. */
  isStoredThrough(boundary: Boundary, runs: VisibleRuns): boolean | Promise<boolean>;
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

const receipts = readings.select('position', 'receivedAtMs');

/** The stored reading of the smallest position that is not older than a time; null without one. */
export async function oldestStoredReading(
  database: Database,
  runs: VisibleRuns,
  oldestMs: number | null,
): Promise<Pick<CounterReading, 'position' | 'receivedAtMs'> | null> {
  const visible = selectVisible(runs);
  const notOlder = selectNotOlder('received_at', oldestMs);
  const [row] = await database.select(
    `SELECT ${receipts.list} FROM ${readings.name} WHERE ${visible.sql}${notOlder.sql} ORDER BY position LIMIT 1`,
    { ...visible.parameters, ...notOlder.parameters },
  );
  return row === undefined ? null : receipts.read(row);
}

/**
 * For a process that only reads. Rows are stored in the order of the stream: if the last evicted reading is stored, so is everything below it.
 * A different reading at its position is of messages that the stream has lost.
 */
export function createStoredThroughQuery(
  database: Database,
  oldestReadingMs: OldestReadingMs = () => null,
): StoredProgress {
  let known = 0;
  let knownIn: VisibleRuns | null = null;
  return {
    // Another process stores the readings.
    storedThrough: () => Number.MAX_SAFE_INTEGER,
    isStoredThrough: async ({ evicted }, runs) => {
      if (evicted === null) return true;
      const { installationId, telemetryId, position, receivedAtMs } = evicted;
      if (knownIn !== null && isSameHistory(knownIn, runs) && position <= known) return true;
      // Its row may have aged out, and readers leave out all rows up to it.
      if (receivedAtMs < (oldestReadingMs() ?? Number.NEGATIVE_INFINITY)) return true;
      const visible = selectVisible(selectWithin(runs, position - 1, position));
      const found = await database.select(
        `SELECT position FROM ${readings.name} WHERE ${visible.sql} AND installation_id = {installation:String}
         AND position = {position:UInt64} AND telemetry_id = {telemetry:UUID} LIMIT 1`,
        { ...visible.parameters, installation: installationId, position, telemetry: telemetryId },
      );
      if (found.length === 0) return false;
      known = position;
      knownIn = runs;
      return true;
    },
    onReset: () => {
      knownIn = null;
    },
  };
}
