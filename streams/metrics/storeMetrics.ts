import type { Registry } from 'prom-client';
import { from, lastValueFrom, timeout } from 'rxjs';
import type { Clock } from '../../actors/clock.ts';
import { streamNames } from '../../actors/messages/subjects.ts';
import { registerMetrics, type Sample, type Samples } from '../../actors/registerMetrics.ts';
import type { Database } from '../../storage/clickhouse/database.ts';
import { readDisks } from '../../storage/clickhouse/systemTables.ts';
import type { StreamSettingsWatch } from '../jetstream/settings/streamSettings.ts';
import { findCertainOffset, measureNatsClock } from '../nats/natsClock.ts';
import { measureFullestServer } from '../nats/natsStore.ts';
import type { StreamPort } from '../nats/streamPort.ts';

/** A scrape waits this long for an answer. Without one the metric is absent. */
const answerMs = 1_000;

interface StoreMetricsOptions {
  readonly database: Database;
  readonly jetStream: () => StreamPort;
  readonly streamSettings: StreamSettingsWatch;
  /** Whether another process ingests, which shows all this, by its own settings. */
  readonly isStandby: () => boolean;
  readonly clock: Pick<Clock, 'nowMs'>;
}

/**
 * Shows how full the store of NATS and the disks of ClickHouse are, which settings of streams are risks, and how wrong the clock of NATS is. Asks both at each request of
 * `/metrics`, unless the process is a standby.
 */
export function registerStoreMetrics(
  registry: Registry,
  { database, jetStream, streamSettings, isStandby, clock }: StoreMetricsOptions,
): void {
  /** Shows nothing without an answer: other metrics show that NATS or ClickHouse does not answer. */
  const askInTime =
    <Answer = Samples>(ask: () => Promise<Answer>) =>
    async () =>
      isStandby() ? [] : await lastValueFrom(from(ask()).pipe(timeout(answerMs))).catch(() => []);

  registerMetrics(registry, {
    miner_nats_store_bytes: [
      'Bytes that the streams of the NATS account use with every copy, their limit, if any, and the bytes on the server that holds most of them.',
      askInTime(async () => {
        const { account, info } = jetStream();
        const { usedBytes, limitBytes } = await account();
        const streams = await Promise.all(streamNames.map((name) => info(name)));
        return [
          [usedBytes, 'used'],
          [limitBytes, 'limit'],
          [measureFullestServer(streams, usedBytes), 'server'],
        ];
      }),
      'kind',
    ],
    miner_stream_setting_risks: [
      'Settings of streams that can lose or refuse messages: 1 for each.',
      async () => {
        await askInTime(streamSettings.check)();
        // Without an answer, the last one counts.
        return isStandby() ? [] : streamSettings.risks.map(({ stream, setting }) => [1, stream, setting]);
      },
      'stream',
      'setting',
    ],
    miner_nats_clock_offset_seconds: [
      'Seconds by which the clock of NATS is certainly ahead of the clock of this machine, negative if behind; absent before NATS 2.10.',
      askInTime(async () => {
        const measured = await measureNatsClock(jetStream(), clock.nowMs);
        return measured === null ? null : findCertainOffset(measured) / 1000;
      }),
    ],
    miner_database_disk_bytes: [
      'Total and free bytes of each disk of ClickHouse.',
      askInTime(async () => {
        return (await readDisks(database)).flatMap(([name, free, total]): Sample[] => [
          [free, name, 'free'],
          [total, name, 'total'],
        ]);
      }),
      'disk',
      'kind',
    ],
  });
}
