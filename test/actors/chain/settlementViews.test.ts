import { describe, expect, it } from 'vitest';
import type { SettlementHistoryView, SettlementRange } from '../../../actors/views/chainViewTypes.ts';
import {
  buildEconomyEvents,
  buildState,
  coreEvents,
  createStateViews,
  plainEconomy,
  settlementEvents,
  stateDeployment,
} from '../../support/chain/economyState.ts';
import { manualClock } from '../../support/manualClock.ts';

function history(views: ReturnType<typeof createStateViews>['views'], range: SettlementRange) {
  const view = views.settlements(range);
  if (view.status !== 'available') throw new Error(`the history is unavailable: ${view.reason}`);
  return view as SettlementHistoryView;
}

describe('the window of a settlement history', () => {
  it.each(['24h', '7d', '30d'] as const)(
    'of %s bounds what is listed at both ends, as it bounds summary and buckets',
    (range) => {
      const clock = manualClock();
      const first = createStateViews(buildState(coreEvents()), undefined, clock);
      const window = history(first.views, range).window;
      if (window === null) throw new Error('a range has a window');
      const { startAtMs, endAtMs } = window;
      // A block's time may be ahead of this machine's clock, and so lie behind the end of the window.
      const times = [startAtMs - 1, startAtMs, endAtMs - 1, endAtMs, endAtMs + 1];
      const settlements = times.flatMap((atMs, index) => {
        const round = BigInt(index + 1);
        const values = { ...plainEconomy, previousRound: round - 1n, settledRound: round };
        const blockUnits = round * 1_000_000_000n;
        return settlementEvents({ ...values, blockUnits, work: 1n }, { atMs, cumulativeWork: round });
      });
      const { views } = createStateViews(buildState([...coreEvents(), ...settlements]), undefined, clock);
      const { recentSettlements, summary, buckets } = history(views, range);
      expect(recentSettlements.map(({ source }) => source.blockTimestampMs)).toEqual([
        endAtMs - 1,
        startAtMs,
      ]);
      expect(summary.settlementCount).toBe(2n);
      expect(buckets.reduce((sum, one) => sum + one.settlementCount, 0n)).toBe(2n);
      expect(history(views, 'now').recentSettlements).toHaveLength(5);
    },
  );
});

describe('the economy in a settlement history', () => {
  const issuanceAt = (number: bigint, events: Parameters<typeof buildState>[0]) => {
    const { views } = createStateViews(buildState(events, { number }));
    return (['now', '24h'] as const).map((range) => {
      const { issuance, buckets, previousPeriod } = history(views, range);
      // What was minted is unknown, not zero.
      const isUnknown = previousPeriod === null && buckets.every((one) => one.mintedBaseUnits === null);
      return typeof issuance === 'string' ? [issuance, isUnknown] : 'available';
    });
  };

  it('is not yet safe while the safe block is below its deployment block', () => {
    const { economyDeploymentBlock } = stateDeployment.chain;
    const notYetSafe = ['not_yet_safe', true];
    expect(issuanceAt(economyDeploymentBlock - 1n, coreEvents())).toEqual([notYetSafe, notYetSafe]);
    expect(issuanceAt(economyDeploymentBlock - 1n, buildEconomyEvents())).toEqual([notYetSafe, notYetSafe]);
  });

  it('is not configured where its block has none, and available where it has', () => {
    const { economyDeploymentBlock } = stateDeployment.chain;
    const notConfigured = ['not_configured', true];
    expect(issuanceAt(economyDeploymentBlock, coreEvents())).toEqual([notConfigured, notConfigured]);
    expect(issuanceAt(economyDeploymentBlock, buildEconomyEvents())).toEqual(['available', 'available']);
  });
});
