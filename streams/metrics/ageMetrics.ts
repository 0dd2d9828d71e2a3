import type { Registry } from 'prom-client';
import type { ChainActors } from '../../actors/chain/chainActors.ts';
import type { Clock } from '../../actors/clock.ts';
import { registerMetrics } from '../../actors/registerMetrics.ts';
import type { CounterActors } from '../../actors/wheel/counterActors.ts';

interface AgeMetricsOptions {
  readonly counters: CounterActors;
  /** Null when no contracts are configured. */
  readonly chain: ChainActors | null;
  /** The installation whose readings are shown without an ID. */
  readonly installationId: string;
  readonly clock: Clock;
}

/** Registers the ages of what the views show. */
export function registerAgeMetrics(registry: Registry, options: AgeMetricsOptions): void {
  const { counters, chain, installationId, clock } = options;
  const ageSeconds = (timeMs: number | null | undefined) =>
    timeMs == null ? null : Math.max(0, clock.nowMs() - timeMs) / 1000;
  registerMetrics(registry, {
    miner_newest_reading_age_seconds: [
      'Seconds since the newest accepted reading of the public installation was received; absent before the first.',
      () => ageSeconds(counters.telemetry(installationId, clock.nowMs()).reading?.receivedAtMs),
    ],
    miner_safe_block_age_seconds: [
      'Seconds since the timestamp of the newest safe block; absent before the first.',
      () => ageSeconds(chain?.newest()?.block.timestampMs),
    ],
  });
}
