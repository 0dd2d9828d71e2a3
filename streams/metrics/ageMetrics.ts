import { Gauge, type Registry } from 'prom-client';
import type { ChainActors } from '../../actors/chain/chainActors.ts';
import type { Clock } from '../../actors/clock.ts';
import type { CounterActors } from '../../actors/wheel/counterActors.ts';

export interface AgeMetricsOptions {
  readonly counters: CounterActors;
  /** Null when no contracts are configured. */
  readonly chain: ChainActors | null;
  /** The installation whose readings are shown without an ID. */
  readonly installationId: string;
  readonly clock: Clock;
}

/** How old is what the views show, computed at each request of `/metrics`. */
export function registerAgeMetrics(registry: Registry, options: AgeMetricsOptions): void {
  const { counters, chain, installationId, clock } = options;

  function age(name: string, help: string, findTimeMs: (nowMs: number) => number | null) {
    new Gauge({
      name,
      help,
      registers: [registry],
      collect() {
        const nowMs = clock.nowMs();
        const timeMs = findTimeMs(nowMs);
        // A metric without labels shows zero until it is removed.
        if (timeMs === null) this.remove();
        else this.set(Math.max(0, nowMs - timeMs) / 1000);
      },
    });
  }

  age(
    'miner_newest_reading_age_seconds',
    'Since the newest accepted reading of the public installation was received; absent before the first.',
    (nowMs) => counters.telemetry(installationId, nowMs).reading?.receivedAtMs ?? null,
  );
  age(
    'miner_safe_block_age_seconds',
    'Since the time that the newest safe block bears; absent before the first.',
    () => chain?.newest()?.block.timestampMs ?? null,
  );
}
