import { mkdtempSync, rmSync } from 'node:fs';
import { Agent, get } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { connect } from '@nats-io/transport-node';
import { counterSubject } from '../actors/messages/subjects.ts';
import { dayMs } from '../actors/schemas/durations.ts';
import { computeStatistics } from '../actors/statistics/statistics.ts';
import { createCounterActors } from '../actors/wheel/counterActors.ts';
import { type DayHistory, type DaySummary, findDayStart } from '../actors/wheel/dayHistory.ts';
import { type Database, openDatabase } from '../storage/database.ts';
import { findActiveTables } from '../storage/generations.ts';
import { pollUntil } from '../storage/pollUntil.ts';
import { rounds } from '../storage/tables/rounds.ts';
import type { Tables } from '../storage/tables.ts';
import { closeNats } from '../streams/jetstream/connection.ts';
import { readNatsAccess } from '../streams/jetstream/natsAccess.ts';
import { measureInterleaved, type Series } from './measureInterleaved.ts';
import { publishReadings, readingBody } from './readingLoad.ts';
import { publishResults } from './results.ts';
import { startServiceProcess, storedPosition } from './serviceProcess.ts';

const installationId = 'wheel-0';
const intervalMs = 10_000;
const roundMs = 600_000;
const halfHourMs = 1_800_000;
const noonMs = dayMs / 2;
const requestsOfRound = 2_000;
const queriesOfRound = 10;
const viewsOfRound = 500;
const foldPollMs = 250;

export interface StatisticsOptions {
  /** Days of readings, one each ten seconds. */
  readonly days: number;
  readonly rounds: number;
}

/**
 * A statistics request to the service, against the same answer from ClickHouse for each request, and the computation of a 30-day view
 * alone. The readings end now, so that the window is full.
 */
export async function measureStatistics({ days, rounds }: StatisticsOptions): Promise<void> {
  const dir = mkdtempSync(join(tmpdir(), 'miner-bench-'));
  const count = (days * dayMs) / intervalMs;
  const startMs = Math.floor(Date.now() / halfHourMs) * halfHourMs - days * dayMs;
  const nowMs = startMs + count * intervalMs;
  try {
    const service = await startServiceProcess({ dir, installationId, startMs });
    await service.readyAfterMs();
    const connection = await connect(readNatsAccess({ url: service.natsUrl }));
    await publishReadings(connection, { id: installationId, count, intervalMs, startMs });
    await closeNats(connection);
    await pollUntil(async () => ((await service.metric(storedPosition)) ?? 0) >= count, {
      everyMs: foldPollMs,
    });
    const url = `${service.publicUrl}/v2/public/stats?range=30d`;
    const agent = new Agent({ keepAlive: true });
    const requests = { name: 'request to the service', measure: () => requestMicros(url, agent) };
    const measured = await measureInterleaved([requests], rounds);
    agent.destroy();
    await service.stop();

    const folded = foldHistory(count, startMs);
    const database = openDatabase({ path: join(dir, 'clickhouse') });
    const tables = await findActiveTables(database);
    const times = { startMs, nowMs };
    const expected = formatStatistics(folded, times);
    const [clickHouse] = await database.select('SELECT version()');
    const query = () => historyFrom(database, tables);
    let others: Series[] = [];
    try {
      const answer = formatStatistics(await query(), times);
      if (answer !== expected)
        throw new Error(`ClickHouse answers something else:\n${answer}\nexpected:\n${expected}`);
      others = await measureInterleaved(
        [
          {
            name: '30-day view recomputed from memory',
            measure: async () => viewMicros(folded, times),
          },
          {
            name: `the same by ClickHouse ${clickHouse?.[0]} queries (embedded)`,
            measure: () => queryMicros(query, times),
          },
        ],
        rounds,
      );
    } finally {
      await database.close();
    }
    publishResults({
      command: 'statistics',
      tables: [
        {
          title: `Statistics of ${days} days`,
          unit: 'µs',
          isLessBetter: true,
          series: [...measured, ...others],
        },
      ],
    });
  } finally {
    rmSync(dir, { recursive: true, force: true });
  }
}

/** Genesis and the moment of the statistics (epoch milliseconds). */
interface Times {
  readonly startMs: number;
  readonly nowMs: number;
}

/** Microseconds a request, one after another on one connection, the body read. */
async function requestMicros(url: string, agent: Agent): Promise<number> {
  const startedMs = performance.now();
  for (let request = 0; request < requestsOfRound; request++) {
    await new Promise<void>((resolve, reject) => {
      get(url, { agent }, (response) => {
        if (response.statusCode !== 200) reject(new Error(`${url} answered ${response.statusCode}`));
        response.on('end', resolve).resume();
      }).on('error', reject);
    });
  }
  return ((performance.now() - startedMs) * 1_000) / requestsOfRound;
}

function viewMicros(history: DayHistory, { startMs, nowMs }: Times): number {
  const startedMs = performance.now();
  for (let computed = 0; computed < viewsOfRound; computed++)
    computeStatistics(history, '30d', startMs, nowMs);
  return ((performance.now() - startedMs) * 1_000) / viewsOfRound;
}

async function queryMicros(query: () => Promise<DayHistory>, times: Times): Promise<number> {
  const startedMs = performance.now();
  for (let number = 0; number < queriesOfRound; number++) formatStatistics(await query(), times);
  return ((performance.now() - startedMs) * 1_000) / queriesOfRound;
}

function formatStatistics(history: DayHistory, { startMs, nowMs }: Times): string {
  const statistics = computeStatistics(history, '30d', startMs, nowMs);
  return JSON.stringify(statistics, (_key, value) => (typeof value === 'bigint' ? value.toString() : value));
}

/** What the service holds: the readings folded one by one. */
function foldHistory(count: number, startMs: number): DayHistory {
  const actors = createCounterActors({ genesisMs: startMs, publicInstallationId: installationId });
  for (let index = 0; index < count; index++) {
    const data = Buffer.from(readingBody(installationId, index, startMs + index * intervalMs));
    actors.receive({ seq: index + 1, subject: counterSubject(installationId), data, timestampNanos: 0n });
  }
  return actors.history() as DayHistory;
}

const roundColumns = rounds.select('startMs', 'workUnits');
/** The same from the tables: one query for the days, one for the rounds. */
async function historyFrom(database: Database, tables: Tables): Promise<DayHistory> {
  const observed = 'toUnixTimestamp64Milli(observed_at)';
  const peak = (column: string) => `max(${column}), argMin(${observed}, (-toInt64(${column}), position))`;
  const dayRows = await database.select(
    `SELECT intDiv(${observed} - ${noonMs}, ${dayMs}) AS day, min(${observed}), max(distance_mm), ${peak('rpm_milli')}, ${peak('speed_mm_per_second')}
     FROM ${tables.readings} FINAL WHERE installation_id = {installation:String} GROUP BY day ORDER BY day`,
    { installation: installationId },
  );
  const roundRows = await database.select(
    `SELECT ${roundColumns.list} FROM ${tables.rounds} FINAL
     WHERE installation_id = {installation:String} ORDER BY start`,
    { installation: installationId },
  );
  return buildHistory(dayRows, roundRows);
}

/** Day, first time, distance, and the peaks of rpm and speed with their times. */
type DayRow = readonly (string | number | null)[];

/** Start and work. */
type RoundRow = readonly (string | number | null)[];

function buildHistory(dayRows: readonly DayRow[], roundRows: readonly RoundRow[]): DayHistory {
  const byDay = new Map<number, Map<number, bigint>>();
  for (const [startMs, workUnits] of roundRows) {
    const dayStart = findDayStart(Number(startMs));
    const places = byDay.get(dayStart) ?? new Map<number, bigint>();
    places.set((Number(startMs) - dayStart) / roundMs, BigInt(workUnits as string));
    byDay.set(dayStart, places);
  }
  const summaries = dayRows.map((row): DaySummary => {
    const [number, , distanceMm, rpm, rpmAtMs, speed, speedAtMs] = row.map(Number) as [number, ...number[]];
    const startMs = number * dayMs + noonMs;
    const places = byDay.get(startMs) ?? new Map<number, bigint>();
    return {
      startMs,
      observedRoundCount: places.size,
      workUnits: [...places.values()].reduce((sum, work) => sum + work, 0n),
      distanceMm: distanceMm as number,
      peakRpmMilli: { value: rpm as number, atMs: rpmAtMs as number },
      peakSpeedMmPerSecond: { value: speed as number, atMs: speedAtMs as number },
      rounds: places,
    };
  });
  return {
    firstObservedAtMs: Number(dayRows[0]?.[1]),
    earlier: null,
    past: summaries.slice(0, -1),
    open: summaries.at(-1) as DaySummary,
  };
}
