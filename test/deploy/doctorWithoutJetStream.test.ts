import { join } from 'node:path';
import { expect, it } from 'vitest';
import { startProcess } from '../support/processes/childProcess.ts';
import { findFreePort } from '../support/processes/findFreePort.mjs';
import { temporaryDirectory } from '../support/processes/lifetime.ts';
import { minerCommand } from '../support/processes/minerCommand.ts';
import { openTables } from '../support/storage/openTables.ts';

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
