import type { Registry } from 'prom-client';
import { fromPromise } from 'xstate';
import { databaseWatchMachine } from '../../machines/databaseWatchMachine.ts';
import type { Database } from '../../storage/clickhouse/database.ts';
import { registerGauge } from '../metrics/registerGauge.ts';

/** Watches whether ClickHouse answers. No answer for longer than `graceMs` ends readiness (CONTRACT.md, Health). */
export function createDatabaseWatch(database: Database, graceMs: number): typeof databaseWatchMachine {
  return databaseWatchMachine.provide({
    delays: { grace: graceMs },
    actors: {
      ask: fromPromise(async ({ signal }) => {
        // A statement of the embedded engine cannot be cancelled: closing the engine waits for its end.
        await database.select('SELECT 1', {}, database.kind === 'server' ? signal : undefined);
      }),
    },
  });
}

export function registerDatabaseMetrics(registry: Registry, isReachable: () => boolean): void {
  const about = { name: 'miner_database_reachable', help: '1 while ClickHouse answers.' };
  registerGauge(registry, about, () => (isReachable() ? 1 : 0));
}
