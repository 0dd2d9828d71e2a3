import { Gauge, type Registry } from 'prom-client';
import type { Database } from '../storage/database.ts';

const intervalMs = 2_000;
const answerMs = 1_500;

/** Whether ClickHouse answers: `/readyz` says yes only then (CONTRACT.md, Health). */
export interface DatabaseWatch {
  start(database: Database): void;
  isReachable(): boolean;
  stop(): void;
}

export function createDatabaseWatch({ registry }: { registry: Registry }): DatabaseWatch {
  let isReachable = false;
  let timer: NodeJS.Timeout | null = null;
  new Gauge({
    name: 'miner_database_reachable',
    help: '1 while ClickHouse answers.',
    registers: [registry],
    collect() {
      this.set(isReachable ? 1 : 0);
    },
  });

  async function probe(database: Database) {
    try {
      await database.select('SELECT 1', {}, AbortSignal.timeout(answerMs));
      isReachable = true;
    } catch {
      isReachable = false; // Who needs the database logs what it says.
    }
  }

  return {
    start: (database) => {
      void probe(database);
      timer = setInterval(() => void probe(database), intervalMs);
    },
    isReachable: () => isReachable,
    stop: () => {
      if (timer !== null) clearInterval(timer);
      isReachable = false;
    },
  };
}
