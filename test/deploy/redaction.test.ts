import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { createRedaction } from '../../deploy/process/redaction.ts';
import { unreachedChain } from '../support/chain/unreachedChain.ts';
import { findFreePort } from '../support/processes/findFreePort.mjs';
import { startMinerCommand } from '../support/processes/minerCommand.ts';
import { writeDeployment } from '../support/processes/minerProcess.ts';
import { startNats } from '../support/processes/natsServer.ts';
import { temporaryDirectory } from '../support/processes/temporaryDirectory.ts';

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

describe('secrets of addresses', () => {
  it.each([
    [
      'http://miner:swordfish@db:8123/miner',
      'no route to http://miner:swordfish@db:8123/',
      'no route to http://***db:8123/',
    ],
    [
      'nats://sesame-token@broker:4222',
      'nats://sesame-token@broker:4222 refused',
      'nats://***broker:4222 refused',
    ],
    ['http://u:p%40ss%22word@db', 'wrong password p@ss"word', 'wrong password ***'],
    [
      'https://node.example/v2/0123456789abcdef',
      'URL: https://node.example/v2/0123456789abcdef',
      'URL: https://node.example/v2/***',
    ],
    ['https://node.example/?key=0123456789abcdef', '0123456789abcdef', '***'],
    ['not an address at all', 'given: not an address at all', 'given: ***'],
    ['http://db:8123/miner', 'miner at http://db:8123/miner', 'miner at http://db:8123/miner'],
    ['http://writer:hun,ter22@db', 'hun,ter22 at http://writer:hun,ter22@db/', '*** at http://***db/'],
    ['http://u:k3yk3y==@db', 'at http://u:k3yk3y%3D%3D@db/, k3yk3y==', 'at http://***db/, ***'],
  ])('%s are masked, and nothing else', (address, text, safe) => {
    if (!address.includes(',')) expect(createRedaction({ MINER_NATS_URL: address })(text)).toBe(safe);
    expect(createRedaction({ MINER_RPC_URL: address })(JSON.stringify({ text }))).toBe(
      JSON.stringify({ text: safe }),
    );
  });

  it('are masked in lists of servers and nodes', () => {
    const nodes = 'https://one/0123456789abcdef,https://u:secret@two/fedcba9876543210';
    expect(createRedaction({ MINER_RPC_URL: nodes })(nodes)).toBe('https://one/***,https://***two/***');
    const url = 'nats://a:first1@one:4222,nats://a:second2@two:4222';
    expect(createRedaction({ MINER_NATS_URL: url })('first1 second2')).toBe('*** ***');
    expect(createRedaction({ MINER_NATS_URL: url })(url)).toBe('nats://***one:4222,nats://***two:4222');
  });

  it('are in no output of a command, even if it fails', async () => {
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
    expect(outputs[2]).toContain(String(closedPort));
  });
});
