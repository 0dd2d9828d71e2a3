import { Registry } from 'prom-client';
import { expect, it } from 'vitest';
import type { Database } from '../../storage/clickhouse/database.ts';
import { registerStoreMetrics } from '../../streams/metrics/storeMetrics.ts';
import { openJetStream } from '../../streams/nats/jetStreamPort.ts';
import { eventually, startProcess } from '../support/processes/childProcess.ts';
import { findFreePort } from '../support/processes/findFreePort.mjs';
import { whenFinished } from '../support/processes/lifetime.ts';
import { findNewestNatsServer } from '../support/processes/natsCluster.ts';
import { writeNatsConfiguration } from '../support/processes/serverConfigurations.ts';
import { temporaryDirectory } from '../support/processes/temporaryDirectory.ts';

it('a metric shows how wrong the clock of NATS certainly is', async () => {
  const { program, minor } = findNewestNatsServer();
  const port = await findFreePort();
  startProcess(program, ['-c', writeNatsConfiguration(temporaryDirectory(), port, '', '')]);
  const jetStream = await eventually(
    () => openJetStream({ servers: `127.0.0.1:${port}`, reconnect: false }),
    'a connection',
  );
  whenFinished(jetStream.close);
  await eventually(jetStream.account, 'JetStream');
  await jetStream.create({ name: 'MINER_COUNTER', subjects: ['miner.counter.*'] });
  let aheadMs = 0;
  let isStandby = false;
  const registry = new Registry();
  registerStoreMetrics(registry, {
    database: {} as Database,
    jetStream: () => jetStream,
    streamSettings: { check: async () => [], risks: [] },
    isStandby: () => isStandby,
    clock: { nowMs: () => Date.now() + aheadMs },
  });
  const read = async () => {
    const line = /^miner_nats_clock_offset_seconds (\S+)$/m.exec(await registry.metrics());
    return line === null ? null : Number(line[1]);
  };
  const tells = minor >= 10;
  // The server runs on this machine, with the same clock.
  expect(await read()).toBe(tells ? 0 : null);
  for (const seconds of [3_600, -3_600]) {
    aheadMs = seconds * 1_000;
    // A slow answer leaves more uncertain.
    if (tells) expect(Math.round(((await read()) ?? 0) / -600)).toBe(seconds / 600);
    else expect(await read()).toBeNull();
  }
  isStandby = true;
  expect(await read()).toBeNull();
});
