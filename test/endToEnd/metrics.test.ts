import { expect, it } from 'vitest';
import { eventually } from '../support/childProcess.ts';
import { startMiner } from '../support/minerProcess.ts';
import { startNats } from '../support/natsServer.ts';
import { temporaryDirectory } from '../support/temporaryDirectory.ts';

const address = (digit: number) => `0x${String(digit).repeat(40)}`;

/** Of a chain that is never reached: its metrics are there all the same. */
const onChain = {
  release: { id: 'release-1', protocolRevision: 'protocol-1', rewardModelRevision: 'rewards-1' },
  chain: { target: 'anvil', chainId: '31337', deploymentBlock: '1', economyDeploymentBlock: '1' },
  contracts: {
    core: address(1),
    proxyAdmin: address(2),
    operatorTimelock: address(3),
    tokenFactory: address(4),
    mining: address(5),
    token: address(6),
    collection: address(7),
  },
};

it('metrics are documented as a process that does everything has them (npm run tables)', async () => {
  const nats = await startNats();
  const miner = await startMiner({
    natsUrl: nats.url,
    dataDir: temporaryDirectory(),
    onChain,
    environment: { MINER_RPC_URL: 'http://127.0.0.1:1' },
  });
  const metrics = async () => (await fetch(`${miner.operatorUrl}/metrics`)).text();
  // The last ones to be registered.
  await eventually(async () => (await metrics()).includes('# HELP miner_recent_readings '), 'all metrics');
  const text = await metrics();
  const typeOf = (name: string) => new RegExp(`^# TYPE ${name} (\\w+)$`, 'm').exec(text)?.[1];
  const rows = [...text.matchAll(/^# HELP (miner_\w+) (.+)$/gm)]
    .map(([, name = '', help]) => `| \`${name}\` | ${typeOf(name)} | ${help} |`)
    .sort();
  const page = [
    '# Metrics',
    '',
    "What `/metrics` on the operators' port shows, made from the help texts of the code by `npm run tables`. Beside these are prom-client's own of the",
    'process and of Node (`process_...`, `nodejs_...`). A read replica has no metrics of writers, a process without `MINER_RPC_URL` none of the indexer.',
    '',
    '| metric | type | meaning |',
    '|---|---|---|',
    ...rows,
    '',
  ].join('\n');
  await expect(page).toMatchFileSnapshot('../../deploy/METRICS.md');
});
