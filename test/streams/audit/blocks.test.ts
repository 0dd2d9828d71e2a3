import { expect, it } from 'vitest';
import type { ChainState } from '../../../actors/chain/state/chainState.ts';
import { toAddress } from '../../../actors/schemas/hex.ts';
import { createBlockAudit } from '../../../streams/audit/auditBlock.ts';
import { buildBlockHash } from '../../support/chain/hashes.ts';
import { foldSpans, startIndexed } from '../../support/chain/indexedChain.ts';
import { createRandomEconomy } from '../../support/chain/randomEconomy.ts';
import { startEconomy } from '../../support/chain/testEconomy.ts';

it('the self-audit compares safe blocks with the contracts', async () => {
  const economy = await startEconomy();
  const random = createRandomEconomy(economy, 7);
  await random.open();
  for (let step = 0; step < 20; step++) await random.step();
  const { nats, caughtUp } = await startIndexed(economy);
  await caughtUp();
  const [rpcUrl, { contracts }] = [economy.url, economy.deployed];
  const audit = createBlockAudit({ rpcUrl, contracts });
  const states = (await foldSpans(economy, nats)).state.safe.slice(-3);
  for (const state of states) expect(await audit(state)).toMatchObject({ outcome: 'agrees' });
  const newest = states.at(-1) as ChainState;
  // It is among the 64 newest safe blocks, which the self-audit samples.
  for (let block = 1; block < 64; block++) await economy.mine();
  expect(await audit(newest)).toMatchObject({ outcome: 'agrees' });
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
  // It cannot answer for one contract.
  const unanswered = createBlockAudit({
    rpcUrl,
    contracts: { ...contracts, token: toAddress(economy.operator) },
  });
  expect(await unanswered(newest)).toEqual({ outcome: 'skipped' });
  // It no longer has the state of the block.
  for (let block = 0; block < 128; block++) await economy.mine();
  expect(await audit(newest)).toEqual({ outcome: 'skipped' });
});
