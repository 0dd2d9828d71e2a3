import { Gauge, type Registry } from 'prom-client';
import { from, lastValueFrom, timeout } from 'rxjs';
import type { Clock } from '../../actors/clock.ts';
import { streamNames } from '../../actors/messages/subjects.ts';
import type { Database } from '../../storage/clickhouse/database.ts';
import { measureAccount, measureFullestServer } from '../jetstream/settings/natsStore.ts';
import type { StreamSettingsWatch } from '../jetstream/settings/streamSettings.ts';
import { findCertainOffset, measureNatsClock } from '../nats/natsClock.ts';
import type { JetStream } from '../nats/natsLink.ts';

/** A scrape waits this long for an answer. Without one the metric is absent. */
const answerMs = 1_000;

interface StoreMetricsOptions {
  readonly database: Database;
  readonly jetStream: () => JetStream;
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
  const registers = [registry];
  /** Ignores a missing answer: other metrics show that NATS or ClickHouse does not answer. */
  async function answerInTime(ask: () => Promise<void>): Promise<void> {
    if (isStandby()) return;
    await lastValueFrom(from(ask()).pipe(timeout(answerMs))).catch(() => undefined);
  }

  new Gauge({
    name: 'miner_nats_store_bytes',
    help: 'Bytes that the streams of the NATS account use with every copy, their limit, if any, and the bytes on the server that holds most of them.',
    labelNames: ['kind'],
    registers,
    collect() {
      this.reset();
      return answerInTime(async () => {
        const { jsm } = jetStream();
        const { usedBytes, limitBytes } = measureAccount(await jsm.getAccountInfo());
        this.set({ kind: 'used' }, usedBytes);
        if (limitBytes !== null) this.set({ kind: 'limit' }, limitBytes);
        const streams = await Promise.all(streamNames.map((name) => jsm.streams.info(name)));
        this.set({ kind: 'server' }, measureFullestServer(streams, usedBytes));
      });
    },
  });
  new Gauge({
    name: 'miner_stream_setting_risks',
    help: 'Settings of streams that can lose or refuse messages: 1 for each.',
    labelNames: ['stream', 'setting'],
    registers,
    async collect() {
      await answerInTime(async () => {
        await streamSettings.check();
      });
      // Without an answer, the last one counts.
      this.reset();
      if (isStandby()) return;
      for (const { stream, setting } of streamSettings.risks) this.set({ stream, setting }, 1);
    },
  });
  new Gauge({
    name: 'miner_nats_clock_offset_seconds',
    help: 'Seconds by which the clock of NATS is certainly ahead of the clock of this machine, negative if behind; absent before NATS 2.10.',
    registers,
    collect() {
      // A metric without labels shows zero until it is removed.
      this.remove();
      return answerInTime(async () => {
        const measured = await measureNatsClock(jetStream().jsm, clock.nowMs);
        if (measured !== null) this.set(findCertainOffset(measured) / 1000);
      });
    },
  });
  new Gauge({
    name: 'miner_database_disk_bytes',
    help: 'Total and free bytes of each disk of ClickHouse.',
    labelNames: ['disk', 'kind'],
    registers,
    collect() {
      this.reset();
      return answerInTime(async () => {
        const disks = await database.select('SELECT name, free_space, total_space FROM system.disks');
        for (const [name, free, total] of disks) {
          this.set({ disk: String(name), kind: 'free' }, Number(free));
          this.set({ disk: String(name), kind: 'total' }, Number(total));
        }
      });
    },
  });
}
