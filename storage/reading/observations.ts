import type { ObservationPage, ObservationReader } from '../../actors/pages/olderRows.ts';
import { type TwoPartList, twoPartPage } from '../../actors/pages/twoPartPage.ts';
import type { CounterReading } from '../../actors/wheel/counterReading.ts';
import type { Database } from '../clickhouse/database.ts';
import { type OldestReadingMs, selectNotOlder } from '../rows/readingsTtl.ts';
import { type LineageRuns, selectMessages, selectRuns, selectWithin } from '../runs/lineages.ts';
import { readings } from '../tables/readings.ts';
import type { AwaitRows, NewestEvicted } from './awaitRows.ts';
import { createKeptReads } from './keptReads.ts';
import type { ReadingsFloor, RecentReadings } from './recentReadings.ts';

interface ObservationReaderOptions {
  readonly recent: RecentReadings;
  readonly database: Database;
  readonly awaitRows: AwaitRows;
  /** If omitted, all rows are read. */
  readonly oldestReadingMs?: OldestReadingMs;
  /** Whether to ask ClickHouse for an installation, since anyone can ask for made-up ones; if omitted, always. */
  readonly mayHaveReadings?: (installationId: string) => boolean;
}

/**
 * Positions that the first attempt at a page searches (about one mark), and the factor for each further attempt. A statement without an upper
 * end would read a mark of every later part, and each month adds parts.
 */
const firstSpan = 8_192;
const spanGrowth = 8;

/** Pages that are read at once for a client that reads on. They cost ClickHouse a third more than one page. */
const pagesAhead = 10;
/** Full pages that are kept: about 16 MB of pages of 100. */
const pagesKeptMax = 320;
/** How long a page is kept while its readings may become too old to be read. */
const keptMs = 3_600_000;

interface RowsQuery {
  readonly runs: LineageRuns;
  readonly installationId: string;
  readonly after: number;
  readonly through: number;
  readonly limit: number;
  readonly signal: AbortSignal;
}

/** Reads accepted readings of any age from memory, and older ones from ClickHouse. */
export function createObservationReader(options: ObservationReaderOptions): ObservationReader {
  const { recent, database, awaitRows, oldestReadingMs = () => null, mayHaveReadings = () => true } = options;
  const kept = createKeptReads<readonly CounterReading[]>(pagesKeptMax);

  function captureList(installationId: string): TwoPartList<CounterReading, number> {
    const floor = recent.floor();
    return {
      compare: (one, other) => one.position - other.position,
      findKey: ({ position }) => position,
      listInMemory: (after, most) => recent.page(installationId, after, most),
      isAboveFloor: (after) => after >= floor.position || !mayHaveReadings(installationId),
      readRows: (after, most, signal) => readRows({ installationId, after, floor, most, signal }),
    };
  }

  async function readRows({
    installationId,
    after,
    floor,
    most,
    signal,
  }: Pick<RowsQuery, 'installationId' | 'after' | 'signal'> & {
    readonly floor: ReadingsFloor;
    readonly most: number;
  }): Promise<readonly CounterReading[]> {
    const oldestMs = oldestReadingMs();
    const runs = await awaitRows(findNewestEvicted(floor, oldestMs), signal);
    const keyAfter = (position: number) =>
      `${installationId} ${position} ${most} ${oldestMs && Math.floor(oldestMs / keptMs)}`;
    const known = kept.find(runs, keyAfter(after));
    if (known !== undefined) return known;
    const size = most - 1;
    const limit = (after === 0 ? 1 : pagesAhead) * size + 1;
    const rows = await seekReadings({ runs, installationId, after, through: floor.position, limit, signal });
    for (let from = 0; from + most <= rows.length; from += size)
      kept.add(runs, keyAfter(rows[from - 1]?.position ?? after), rows.slice(from, from + most));
    return rows.slice(0, most);
  }

  return {
    page: (installationId, afterPosition, limit, signal) => {
      const cut = (found: readonly CounterReading[]): ObservationPage => ({
        items: found.slice(0, limit),
        more: found.length > limit,
      });
      const found = twoPartPage(captureList(installationId), afterPosition, limit + 1, signal);
      return found instanceof Promise ? found.then(cut) : cut(found);
    },
  };

  /** The first `limit` readings above a position and up to another, ascending. */
  async function seekReadings(query: RowsQuery): Promise<CounterReading[]> {
    const { runs, installationId: installation, limit, signal } = query;
    // A batch that was sent twice may not be merged yet. Rows of one run and position are identical.
    const found = new Map<number, CounterReading>();
    const notOlder = selectNotOlder('received_at', oldestReadingMs());
    let { after } = query;
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

/** A reading whose row may have aged out is not looked for: readers leave out all rows up to it. */
export function findNewestEvicted(
  { position, evicted }: ReadingsFloor,
  oldestMs: number | null,
): NewestEvicted {
  if (evicted === null || (oldestMs !== null && evicted.receivedAtMs < oldestMs))
    return { position, row: null };
  const { installationId: installation, telemetryId: telemetry } = evicted;
  const condition = {
    sql: 'installation_id = {installation:String} AND position = {position:UInt64} AND telemetry_id = {telemetry:UUID}',
    parameters: { installation, telemetry, position: evicted.position },
  };
  return { position, row: { entry: evicted, table: readings.name, condition } };
}

const positionsAtOnce = 20_000;

interface StoredRange {
  readonly runs: LineageRuns;
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

const receipts = readings.select('position', 'receivedAtMs');

/** The stored reading of the smallest position that is not older than a time; null without one. */
export async function oldestStoredReading(
  database: Database,
  runs: LineageRuns,
  oldestMs: number | null,
): Promise<Pick<CounterReading, 'position' | 'receivedAtMs'> | null> {
  const runCondition = selectRuns(runs);
  const notOlder = selectNotOlder('received_at', oldestMs);
  const [row] = await database.select(
    `SELECT ${receipts.list} FROM ${readings.name} WHERE ${runCondition.sql}${notOlder.sql} ORDER BY position LIMIT 1`,
    { ...runCondition.parameters, ...notOlder.parameters },
  );
  return row === undefined ? null : receipts.read(row);
}
