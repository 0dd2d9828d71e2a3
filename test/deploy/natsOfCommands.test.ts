import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { startProcess } from '../support/processes/childProcess.ts';
import { findFreePort } from '../support/processes/findFreePort.mjs';
import { minerCommand } from '../support/processes/minerCommand.ts';
import { temporaryDirectory } from '../support/processes/temporaryDirectory.ts';
import { openTables } from '../support/storage/openTables.ts';
import { startStreams } from '../support/streams/startStreams.ts';

const rejection = (sequence: number, reason: string) =>
  JSON.stringify({
    ...{ stream: 'MINER_COUNTER', streamCreated: 'c', sequence, storedAt: '2026-01-31T12:00:00.000000000Z' },
    ...{
      subject: 'miner.counter.wheel',
      reason,
      detail: 'd',
      byteLength: 1,
      original: 'eA==',
      truncated: false,
    },
  });

describe('a command that needs NATS', () => {
  it('rejected says among how many it has searched, and what its server lacks', async () => {
    const { server, nats } = await startStreams();
    const environment = { MINER_NATS_URL: server.url };
    await nats.js.publish('miner.rejected.MINER_COUNTER', rejection(1, 'malformed'));
    const none = await minerCommand(['rejected', '--reason', 'duplicate'], environment);
    expect(none).toEqual({
      status: 0,
      output: expect.stringContaining('no message was rejected as duplicate, among the newest 1\n'),
    });
    await nats.jsm.streams.delete('MINER_REJECTED');
    const bereft = await minerCommand(['rejected'], environment);
    expect(bereft).toEqual({ status: 1, output: expect.stringContaining('FAILED   NATS: stream not found') });
  });
});

it('the doctor does not blame ClickHouse for a server without JetStream', async () => {
  const port = await findFreePort();
  const server = startProcess('nats-server', ['--addr', '127.0.0.1', '--port', String(port)], {
    env: { ...process.env, PATH: `${process.env.PATH}:/usr/sbin` },
  });
  await server.written('Server is ready');
  const dataDir = temporaryDirectory();
  const { database } = await openTables({ path: join(dataDir, 'clickhouse') });
  await database.close();
  const { status, output } = await minerCommand(['doctor'], {
    MINER_NATS_URL: `nats://127.0.0.1:${port}`,
    MINER_DATA_DIR: dataDir,
  });
  expect(output).toMatch(/FAILED +comparison with the streams: /);
  expect(output).toMatch(/FAILED +JetStream: /);
  expect(output).not.toContain('MINER_CLICKHOUSE_URL');
  expect(status).toBe(1);
});
