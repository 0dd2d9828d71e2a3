import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { unreachedChain } from '../support/chain/unreachedChain.ts';
import { findFreePort } from '../support/processes/findFreePort.mjs';
import { temporaryDirectory } from '../support/processes/lifetime.ts';
import { startMinerCommand } from '../support/processes/minerCommand.ts';
import { writeDeployment } from '../support/processes/minerProcess.ts';
import { startNats } from '../support/processes/natsServer.ts';

/** Runs a command until it ends, or has printed a text. Returns its output. */
async function collectOutput(
  command: string,
  environment: Record<string, string>,
  until?: string,
): Promise<string> {
  const run = startMinerCommand([command], { MINER_HTTP_PORT: '0', MINER_OPS_PORT: '0', ...environment });
  if (until !== undefined) {
    await run.written(until);
    await run.end('SIGKILL');
  } else await run.exited;
  return run.output();
}

it('secrets of addresses are in no output of a command, even if it fails', async () => {
  const dataDir = temporaryDirectory();
  mkdirSync(join(dataDir, 'data'));
  const nats = await startNats();
  const closedPort = await findFreePort();
  const away = {
    MINER_NATS_URL: `nats://natsuser:natssecret@127.0.0.1:${closedPort}`,
    MINER_CLICKHOUSE_URL: `http://houseuser:housesecret@127.0.0.1:${closedPort}/db`,
    MINER_RPC_URL: `http://rpcuser:rpcsecret@127.0.0.1:${closedPort}/v2/rpcpathsecretkey`,
    MINER_DATA_DIR: dataDir,
    MINER_DEPLOYMENT: writeDeployment(dataDir, unreachedChain),
    MINER_LOG_LEVEL: 'trace',
  };
  const near = { ...away, MINER_NATS_URL: nats.url };
  const broken = {
    ...away,
    MINER_NATS_URL: 'natsuser:natssecret@broker',
    MINER_CLICKHOUSE_URL: 'htp://houseuser:housesecret@db',
    MINER_RPC_URL: 'rpcsecret',
  };
  const outputs = await Promise.all([
    collectOutput('run', away, 'NATS'),
    collectOutput('run', near, 'ClickHouse'),
    collectOutput('index', near, 'HTTP request failed'),
    collectOutput('doctor', away),
    collectOutput('doctor', near),
    collectOutput('run', broken),
    collectOutput('doctor', broken),
    collectOutput('replay', broken),
  ]);
  for (const output of outputs) {
    expect(output).not.toBe('');
    expect(output).not.toMatch(/secret|natsuser|houseuser|rpcuser/);
  }
  // The port stays, since an operator needs it.
  expect(outputs[3]).toContain(String(closedPort));
});
