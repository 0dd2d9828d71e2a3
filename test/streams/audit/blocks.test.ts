import { expect, it } from 'vitest';
import type { ChainState } from '../../../actors/chain/state/chainState.ts';
import { createBlockAudit } from '../../../streams/audit/auditBlock.ts';
import { foldChain } from '../../support/chain/foldedChain.ts';
import { buildBlockHash } from '../../support/chain/hashes.ts';
import { createRandomEconomy } from '../../support/chain/randomEconomy.ts';
import { startEconomy } from '../../support/chain/testEconomy.ts';
import { refuseCalls } from '../../support/chain/writtenNode.ts';

it('the self-audit compares safe blocks with the contracts', async () => {
  const economy = await startEconomy();
  const random = createRandomEconomy(economy, 7);
  await random.open();
  for (let step = 0; step < 20; step++) await random.step();
  const { actors, fold, deployment } = await foldChain(economy);
  await fold();
  const audit = createBlockAudit({ rpcUrl: economy.url, contracts: deployment.contracts });
  const states = actors.state.safe.slice(-3);
  for (const state of states) expect(await audit(state)).toMatchObject({ outcome: 'agrees' });
  const newest = states.at(-1) as ChainState;
  const { number } = newest.block;
  const { mining } = newest;
  expect(
    await audit({ ...newest, mining: { ...mining, totalWeight: mining.totalWeight + 1n } }),
  ).toMatchObject({
    outcome: 'drift',
    about: `block ${number}`,
    differences: [
      `totalWeight is ${mining.totalWeight + 1n} in memory and ${mining.totalWeight} at the node`,
    ],
    repair: `npm run miner -- index --from-block ${number}`,
  });
  const hash = buildBlockHash(1);
  expect(await audit({ ...newest, block: { ...newest.block, hash } })).toMatchObject({
    outcome: 'drift',
    differences: [
      expect.stringContaining(`its hash is ${hash} in memory and ${newest.block.hash} at the node`),
    ],
  });
  // It has lost the state of one contract.
  refuseCalls(
    ({ method, params: [call] = [] }) =>
      method === 'eth_call' && (call as { to: string }).to === deployment.contracts.token,
  );
  expect(await audit(newest)).toEqual({ outcome: 'skipped' });
});
