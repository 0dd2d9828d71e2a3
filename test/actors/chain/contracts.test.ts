import { describe, expect, it } from 'vitest';
import type { ChainState } from '../../../actors/chain/chainState.ts';
import { foldSpans, startIndexed } from '../../support/chain/indexedChain.ts';
import { createRandomEconomy } from '../../support/chain/randomEconomy.ts';
import { startEconomy } from '../../support/chain/testEconomy.ts';
import { judge } from '../../support/reference/judge.ts';

describe('the fold of the chain', () => {
  it.each([1, 20_261_121])(
    'says what the contracts say at every tenth safe block of a random economy (seed %d)',
    async (seed) => {
      const economy = await startEconomy();
      const { nats, caughtUp } = await startIndexed(economy);
      const random = createRandomEconomy(economy, seed);
      await random.mintInEveryPhase();
      await random.open();
      for (let step = 0; step < 110; step++) await random.step();
      await random.upgrade(2n);
      for (let step = 0; step < 130; step++) await random.step();
      expect(random.transactions).toBeGreaterThan(300);
      await caughtUp();
      const judged: bigint[] = [];
      let last: ChainState | null = null;
      const { state, rejections } = await foldSpans(economy, nats, async ({ safe }) => {
        const newest = safe.at(-1);
        if (newest === undefined || newest === last) return;
        last = newest;
        if (newest.block.number % 10n !== 0n || newest.mining.configuration === null) return;
        await judge(economy, newest);
        judged.push(newest.block.number);
      });
      expect(rejections).toEqual([]);
      expect(judged.length).toBeGreaterThanOrEqual(20);
      expect(state.safe.at(-1)?.block.number).toBe((state.head?.number ?? 0n) - 11n);
      const newest = state.safe.at(-1) as ChainState;
      expect(newest.core.implementation?.codeVersion).toBe(2n);
      expect(newest.governance.operation).toMatchObject({ kind: 'upgrade', state: 'executed' });
      expect(newest.settlements.size).toBeGreaterThan(15);
      expect(newest.checkpoints.size).toBeGreaterThan(10);
      const kinds = [...newest.owners.values()].flatMap(({ activity }) =>
        [...activity].map(({ kind }) => kind),
      );
      const countOf = (kind: string) => kinds.filter((one) => one === kind).length;
      expect(countOf('mint')).toBeGreaterThan(20);
      expect(countOf('merge')).toBeGreaterThan(10);
      expect(countOf('claim')).toBeGreaterThan(10);
      expect(countOf('transfer')).toBeGreaterThan(10);
    },
  );
});
