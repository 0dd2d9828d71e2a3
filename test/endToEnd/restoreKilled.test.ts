import { expect, it } from 'vitest';
import { toAddress } from '../../actors/schemas/hex.ts';
import { testRelease } from '../support/chain/testRelease.ts';
import { claimed, configuredEconomy, minted } from '../support/chain/writtenEconomy.ts';
import { buildSpan, writtenChainId, writtenContracts } from '../support/chain/writtenSpans.ts';
import { foldAndStop } from '../support/processes/foldAndStop.ts';
import { type MinerProcess, startMiner, waitUntilReady } from '../support/processes/minerProcess.ts';
import { mixedPublications, publishAll } from '../support/readings/readingMessages.ts';

const spanCount = 60;
const owner = toAddress(`0x${'a'.repeat(40)}`);

const onChain = {
  release: testRelease,
  chain: {
    target: 'anvil',
    chainId: String(writtenChainId),
    deploymentBlock: '1',
    economyDeploymentBlock: '1',
  },
  contracts: writtenContracts,
};

/** An owner who claims in each block. */
const spans = Array.from({ length: spanCount }, (_, index) => ({
  subject: `miner.chain.${writtenChainId}.span`,
  body: JSON.stringify(
    buildSpan({
      number: index + 1,
      events: index === 0 ? [...configuredEconomy, minted(owner, 1)] : [claimed(owner, [1], BigInt(index))],
    }),
  ),
}));

const restored = `"stream":"MINER_CHAIN","position":${spanCount},"lastSequence":${spanCount},"msg":"snapshot restored"`;
/** What a start writes, in order for each stream: each is a place to kill it at. */
const places = [
  '"msg":"listening"}',
  '"actor":"streamFollower MINER_COUNTER","state":"restoring.working"',
  '"actor":"streamFollower MINER_CHAIN","state":"restoring.working"',
  restored,
  '"actor":"streamFollower MINER_COUNTER","state":"following',
  '"actor":"streamFollower MINER_CHAIN","state":"following',
];

const routes = [
  '/v1/public/installations/wheel.one/observations?limit=100',
  '/v1/events?limit=100',
  `/v1/owners/${owner}/activity?limit=100`,
  `/v1/owners/${owner}/miners?limit=100`,
  '/v1/mining/state',
];

/** Without the time of the answer. */
function readBodies(miner: MinerProcess): Promise<unknown[]> {
  return Promise.all(
    routes.map(async (route) => ({ ...(await miner.json<object>(route)), generatedAt: null })),
  );
}

it('a process that is killed while it restores changes nothing: the next one serves the same', async () => {
  const { settings } = await foldAndStop(
    async ({ connection }) => {
      await publishAll(connection, spans);
      await publishAll(connection, mixedPublications(1_200));
    },
    { onChain },
  );
  const undisturbed = await startMiner(settings);
  await waitUntilReady(undisturbed);
  const bodies = await readBodies(undisturbed);
  // Of the claims, those of the 49 blocks that are safe: from 1 to 48.
  expect(JSON.stringify(bodies)).toContain('"paidBaseUnits":"1176"');
  await undisturbed.end('SIGKILL');
  for (const place of places) {
    const killed = await startMiner({ ...settings, environment: { MINER_LOG_LEVEL: 'debug' } });
    await killed.written(place);
    await killed.end('SIGKILL');
  }
  const next = await startMiner(settings);
  await waitUntilReady(next);
  await next.written(restored);
  expect(await readBodies(next)).toEqual(bodies);
  await next.end('SIGTERM');
});
