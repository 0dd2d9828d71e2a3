import { describe, expect, it } from 'vitest';
import type { ChainState } from '../../../actors/chain/state/chainState.ts';
import { foldSpans, startIndexed } from '../../support/chain/indexedChain.ts';
import { createRandomEconomy } from '../../support/chain/randomEconomy.ts';
import { startEconomy } from '../../support/chain/testEconomy.ts';
import { assertMatchesContracts } from '../../support/reference/assertMatchesContracts.ts';

describe('the fold of the chain', () => {
  it('equals the contracts at every tenth safe block of a random economy', async () => {
    const economy = await startEconomy();
    const { nats, caughtUp } = await startIndexed(economy);
    const random = createRandomEconomy(economy, 1);
    await random.mintInEveryPhase();
    await random.open();
    for (let step = 0; step < 110; step++) await random.step();
    await random.upgrade(2n);
    for (let step = 0; step < 130; step++) await random.step();
    expect(random.transactions).toBeGreaterThan(300);
    await caughtUp();
    const comparedBlocks: bigint[] = [];
    let last: ChainState | null = null;
    const { state, rejections } = await foldSpans(economy, nats, async ({ safe }) => {
      const newest = safe.at(-1);
      if (newest === undefined || newest === last) return;
      last = newest;
      if (newest.block.number % 10n !== 0n || newest.mining.configuration === null) return;
      await assertMatchesContracts(economy, newest);
      comparedBlocks.push(newest.block.number);
    });
    expect(rejections).toEqual([]);
    expect(comparedBlocks.length).toBeGreaterThanOrEqual(20);
    expect(state.safe.at(-1)?.block.number).toBe((state.head?.number ?? 0n) - 11n);
    const newest = state.safe.at(-1) as ChainState;
    expect(newest.core.implementation?.codeVersion).toBe(2n);
    expect(newest.governance.operation).toMatchObject({ kind: 'upgrade', state: 'executed' });
    expect(newest.settlements.size).toBeGreaterThan(15);
    expect(newest.checkpoints.size).toBeGreaterThan(10);
    const kinds = [...newest.owners.values()].flatMap(({ activity }) =>
      [...activity].map(({ kind }) => kind),
    );
    const countKind = (kind: string) => kinds.filter((one) => one === kind).length;
    expect(countKind('mint')).toBeGreaterThan(20);
    expect(countKind('merge')).toBeGreaterThan(10);
    expect(countKind('claim')).toBeGreaterThan(10);
    expect(countKind('transfer')).toBeGreaterThan(10);
  });
});
