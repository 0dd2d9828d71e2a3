import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type ClickHouseClientConfigOptions, createClient } from '@clickhouse/client';
import { createChdbConnection } from 'chdb/connection';
import { pino } from 'pino';
import type { EvictedSource } from '../../actors/feed/olderEvents.ts';
import { type Database, openDatabase, type ResultRow } from '../../storage/database.ts';
import { migrate } from '../../storage/migrations.ts';
import { createObservationReader } from '../../storage/observations.ts';
import { createRecentReadings } from '../../storage/recentReadings.ts';
import { createStoredEvents } from '../../storage/storedEvents.ts';
import type { Tables } from '../../storage/tables.ts';
import { median } from '../measureInterleaved.ts';

export interface PageCostOptions {
  /** Rows of the largest table; those of the others are a hundredth of the next one's. */
  readonly rows: number;
}

const sizesMin = 1_000;
const pagesOfEach = 25;
const pageRows = 20;
const wheels = 10;
const insertedAtOnce = 1_000_000;
const run = '1.0';
const startMs = 1_769_860_800_000;
const signal = new AbortController().signal;

interface Cost {
  readonly rowsRead: number;
  readonly ms: number;
}

/** A page that is read somewhere in a history of so many rows; `place` is from 0, the oldest end, to 1. */
type ReadPage = (place: number) => Promise<number>;

/** Rows read and time of a page of old readings and of old events, by how many there are. */
export async function measurePageCost({ rows }: PageCostOptions): Promise<void> {
  const sizes: number[] = [];
  for (let size = sizesMin; size <= rows; size *= 100) sizes.push(size);
  const costs = new Map<string, (readonly [size: number, cost: Cost])[]>();
  for (const size of sizes) {
    const found = await measureSize(size);
    for (const [name, cost] of found) costs.set(name, [...(costs.get(name) ?? []), [size, cost]]);
  }
  const lines = [...costs].map(([name, bySize]) => {
    const cells = bySize.map(
      ([, { rowsRead, ms }]) => `${rowsRead.toLocaleString('en-US')}, ${ms.toFixed(1)} ms`,
    );
    const exponent = (value: (cost: Cost) => number) =>
      fitExponent(bySize.map(([size, cost]) => [size, value(cost)])).toFixed(2);
    return `| ${name} | ${cells.join(' | ')} | ${exponent((cost) => cost.rowsRead)} | ${exponent((cost) => cost.ms)} |`;
  });
  const titles = sizes.map((size) => `${size.toLocaleString('en-US')} rows`);
  process.stdout.write(
    [
      `| page of ${pageRows}: rows read, median time | ${titles.join(' | ')} | exponent of rows read | of time |`,
      `|---|${'---|'.repeat(sizes.length + 2)}`,
      ...lines,
      '',
    ].join('\n'),
  );
}

async function measureSize(size: number): Promise<Map<string, Cost>> {
  const dir = mkdtempSync(join(tmpdir(), 'miner-bench-'));
  try {
    const filling = openDatabase({ path: dir });
    const tables = await migrate(filling, pino({ level: 'silent' }));
    await fill(filling, tables, size);
    await filling.close();
    const { database, rowsRead, close } = openCounted(dir);
    const found = new Map<string, Cost>();
    for (const [name, readPage] of Object.entries(createPageReaders(database, tables, size)))
      found.set(name, await measurePages(readPage, rowsRead));
    await close();
    return found;
  } finally {
    rmSync(dir, { recursive: true, force: true });
  }
}

async function measurePages(readPage: ReadPage, rowsRead: () => number): Promise<Cost> {
  const times: number[] = [];
  const counts: number[] = [];
  await readPage(0);
  for (let page = 0; page < pagesOfEach; page++) {
    const [startedMs, before] = [performance.now(), rowsRead()];
    const found = await readPage(page / (2 * pagesOfEach));
    times.push(performance.now() - startedMs);
    counts.push(rowsRead() - before);
    if (found !== pageRows) throw new Error(`a page of ${found} rows, expected ${pageRows}`);
  }
  return { rowsRead: median(counts), ms: median(times) };
}

function createPageReaders(database: Database, tables: Tables, size: number): Record<string, ReadPage> {
  const recent = createRecentReadings({ storedThrough: () => size });
  recent.reset(size);
  const observations = createObservationReader({
    recent,
    database,
    tables: () => tables,
    isStoredThrough: () => true,
  });
  const events = createStoredEvents({ database, tables: () => tables, eventsStored: async () => undefined });
  const of: EvictedSource = {
    source: 'measurement',
    run,
    evicted: { through: { position: size, ordinal: 0 }, throughMs: startMs + size, atPosition: size },
  };
  const categories = ['measurement'] as const;
  const at = (place: number) => Math.floor(place * size);
  return {
    'observations of one of ten wheels': async (place) => {
      const page = await observations.page('wheel.3', at(place) / 2, pageRows - 1, signal);
      return page.items.length + (page.more ? 1 : 0);
    },
    'events of the feed, newest first': async (place) => {
      const position = size - at(place);
      const seek = { recordedAtMs: startMs + position, source: 'measurement', position, ordinal: 0 } as const;
      return (await events.before(of, { categories, place: seek, limit: pageRows }, signal)).length;
    },
    'events that arrived after a place': async (place) =>
      (
        await events.after(
          of,
          { categories, arrival: { position: at(place), ordinal: 0 }, limit: pageRows },
          signal,
        )
      ).length,
  };
}

/** Readings of ten wheels, one per second each, and as many events. */
async function fill(database: Database, tables: Tables, size: number): Promise<void> {
  const { events, times } = tables.measurementEvents;
  const time = (ms: string) => `fromUnixTimestamp64Milli(toInt64(${startMs} + ${ms}), 'UTC')`;
  for (let from = 0; from < size; from += insertedAtOnce) {
    const numbers = `numbers(${from}, ${Math.min(insertedAtOnce, size - from)})`;
    const second = `intDiv(number, ${wheels})`;
    await database.command(
      `INSERT INTO ${tables.readings} (installation_id, position, telemetry_id, sequence, observed_at, received_at, cumulative_work_units)
       SELECT concat('wheel.', toString(number % ${wheels})), number + 1, generateUUIDv4(), ${second},
         ${time(`${second} * 1000`)}, ${time(`${second} * 1000`)}, number FROM ${numbers}`,
    );
    await database.command(
      `INSERT INTO ${times} (run, category, installation_id, recorded_at, position, ordinal)
       SELECT '${run}', 'measurement', 'wheel', ${time('number')}, number, 0 FROM ${numbers}`,
    );
    await database.command(
      `INSERT INTO ${events} (run, category, position, ordinal, id, type, recorded_at, arrived_at, event)
       SELECT '${run}', 'measurement', number, 0, toString(number), 'measurement.speed_record', ${time('number')}, ${time('number')},
         '{"speed":1}' FROM ${numbers}`,
    );
  }
}

/** The embedded engine as {@link openDatabase} opens it, for reading, with a count of the rows that its statements read. */
function openCounted(dir: string) {
  const engine = createChdbConnection({ path: `${dir}/engine` });
  const client = createClient({
    connection: engine as unknown as NonNullable<ClickHouseClientConfigOptions['connection']>,
  });
  let rowsRead = 0;
  const refuse = () => Promise.reject(new Error('this database is for reading'));
  const database: Database = {
    kind: 'embedded',
    cluster: null,
    command: refuse,
    insertBytes: refuse,
    selectPlain: refuse,
    select: async (sql, parameters = {}) => {
      const result = await client.query({ query: sql, query_params: parameters, format: 'JSONCompact' });
      const { data, statistics } = await result.json<ResultRow>();
      rowsRead += statistics?.rows_read ?? 0;
      return data;
    },
    close: () => client.close(),
  };
  return { database, rowsRead: () => rowsRead, close: database.close };
}

/** Slope of the logarithms: 0 where the cost does not grow, 1 where it grows with the size. */
function fitExponent(points: readonly (readonly [size: number, value: number])[]): number {
  const logs = points.map(([size, value]) => [Math.log(size), Math.log(Math.max(value, 1))] as const);
  const mean = (at: 0 | 1) => logs.reduce((sum, point) => sum + point[at], 0) / logs.length;
  const [meanX, meanY] = [mean(0), mean(1)];
  const covariance = logs.reduce((sum, [x, y]) => sum + (x - meanX) * (y - meanY), 0);
  return covariance / logs.reduce((sum, [x]) => sum + (x - meanX) ** 2, 0);
}
