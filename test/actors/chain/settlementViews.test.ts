import { Map as ImmutableMap, List } from 'immutable';
import { describe, expect, it } from 'vitest';
import { blockUnitsPerBlock } from '../../../actors/chain/state/blockUnits.ts';
import type { SettlementRange } from '../../../actors/views/chain/settlementHistory.ts';
import type { SettlementHistoryView } from '../../../actors/views/chain/settlementView.ts';
import { requireValue } from '../../../machines/requireValue.ts';
import {
  buildEconomyEvents,
  buildState,
  coreEvents,
  createEconomyViews,
  createStateViews,
  plainEconomy,
  replaceArguments,
  settlementEvents,
  stateDeployment,
} from '../../support/chain/economyState.ts';
import { manualClock } from '../../support/manualClock.ts';

function history(views: ReturnType<typeof createStateViews>['views'], range: SettlementRange) {
  const view = views.settlements(range);
  if (view.status !== 'available') throw new Error(`the history is unavailable: ${view.reason}`);
  return view as SettlementHistoryView;
}

it.each(['24h', '7d', '30d'] as const)(
  'the window of a settlement history bounds list, summary and buckets of %s at both ends',
  (range) => {
    const clock = manualClock();
    const first = createStateViews(buildState(coreEvents()), undefined, clock);
    const window = history(first.views, range).window;
    if (window === null) throw new Error('a range has a window');
    const { startAtMs, endAtMs, bucketSeconds } = window;
    const innerMs = startAtMs + bucketSeconds * 1_000;
    // A block's time may be ahead of this clock, and so lie after the end of the window.
    const times = [startAtMs - 1, startAtMs, innerMs - 1, innerMs, endAtMs - 1, endAtMs, endAtMs + 1];
    const settlements = times.flatMap((atMs, index) => {
      const round = BigInt(index + 1);
      const values = { ...plainEconomy, previousRound: round - 1n, settledRound: round };
      const blockUnits = round * 1_000_000_000n;
      return settlementEvents({ ...values, blockUnits, work: 1n }, { atMs, cumulativeWork: round });
    });
    const { views } = createStateViews(buildState([...coreEvents(), ...settlements]), undefined, clock);
    const { recentSettlements, summary, buckets } = history(views, range);
    expect(recentSettlements.map(({ source }) => source.blockTimestampMs)).toEqual(
      times.slice(1, -2).reverse(),
    );
    expect(summary.settlementCount).toBe(4n);
    const counts = buckets.map((one) => Number(one.settlementCount));
    expect([counts[0], counts[1], counts.at(-1)]).toEqual([2, 1, 1]);
    expect(history(views, 'now').recentSettlements).toHaveLength(7);
    clock.advance(endAtMs - 1 - clock.nowMs());
    expect(history(views, range).window).toEqual(window);
    clock.advance(1);
    expect(history(views, range).window?.endAtMs).toBeGreaterThan(endAtMs);
  },
);

const issuanceAt = (number: bigint, events: Parameters<typeof buildState>[0]) => {
  const { views } = createStateViews(buildState(events, { number }));
  return (['now', '24h'] as const).map((range) => {
    const { issuance, buckets, previousPeriod, recentRounds } = history(views, range);
    if (typeof issuance !== 'string') return 'available';
    // The minted amount is unknown, not zero, and does not come from a refused contract.
    const minted = buckets.map((one) => one.mintedBaseUnits);
    expect([previousPeriod, recentRounds, ...minted].filter((one) => one !== null)).toEqual([]);
    return issuance;
  });
};

const { economyDeploymentBlock: block } = stateDeployment.chain;
const others = replaceArguments('mining', 'MiningConfigured', { core: stateDeployment.contracts.token });
const unknown = replaceArguments('mining', 'VersionActivated', { version: 3n });

it.each([
  ['not yet safe below its deployment block', block - 1n, coreEvents(), 'not_yet_safe'],
  ['not yet safe there, even configured', block - 1n, buildEconomyEvents(), 'not_yet_safe'],
  ['not configured if it is absent at its block', block, coreEvents(), 'not_configured'],
  ['available at its block', block, buildEconomyEvents(), 'available'],
  ['not configured with others', block, others, 'not_configured'],
  ['not configured in an unknown version', block, unknown, 'not_configured'],
])('the economy in a settlement history is %s', (_, number, events, issuance) => {
  expect(issuanceAt(number, events)).toEqual([issuance, issuance]);
});

it.each([
  { settled: 4n, from: 5n, left: 9n, weight: 7n, earned: 0n },
  { settled: 4n, from: 6n, left: 9n, weight: 0n, earned: 0n },
  { settled: 6n, from: 5n, left: 9n, weight: 7n, earned: 3n },
  { settled: 6n, from: 5n, left: 1n, weight: 7n, earned: 1n },
  { settled: 6n, from: 6n, left: 9n, weight: 7n, earned: 2n },
  { settled: 6n, from: 7n, left: 9n, weight: 0n, earned: 0n },
])('the next mint has the weights of its rounds, and no more than the cap: %o', (given) => {
  const { settled, from, left, weight, earned } = given;
  const { views, source } = createStateViews(buildState(buildEconomyEvents()));
  const { mining, core, ...rest } = requireValue(source.state, 'the state');
  const { rewardPerBlock, supplyCap } = requireValue(mining.configuration, 'the configuration');
  // The first round completes a block, the second one two.
  const rounds = [
    { roundId: 5n, cumulativeWork: 1n, cumulativeBlockUnits: blockUnitsPerBlock },
    { roundId: 6n, cumulativeWork: 1n, cumulativeBlockUnits: 3n * blockUnitsPerBlock },
  ];
  source.state = {
    ...rest,
    core: { ...core, settledThroughRound: settled },
    unprocessedRounds: List(rounds.filter(({ roundId }) => roundId <= settled)),
    mining: {
      ...mining,
      processedThroughRound: 4n,
      closedThroughBlock: 0n,
      totalWeight: 0n,
      mintedBaseUnits: supplyCap - left * rewardPerBlock,
      pendingWeight: ImmutableMap([
        [String(from), 7n],
        ['10', 1n],
      ]),
    },
  };
  const { issuance } = history(views, 'now');
  expect(issuance).toMatchObject({
    nextRound: { round: 5n, eligibleWeight: weight, amountBaseUnits: earned * rewardPerBlock },
  });
});

describe('a settlement history that is not live', () => {
  const staleMs = 120_000;

  it('is the durable copy while the safe block is far behind', () => {
    const state = buildState(buildEconomyEvents());
    const behindAfterMs = 900_000;
    for (const [aheadMs, isLive] of [
      [behindAfterMs, true],
      [behindAfterMs + 1, false],
    ] as const) {
      const { views, source } = createStateViews(
        state,
        undefined,
        manualClock(state.block.timestampMs + aheadMs),
      );
      source.behindAfterMs = behindAfterMs;
      expect(history(views, '24h').source).toBe(isLive ? 'live' : 'durable-cache');
      const condition = isLive ? 'available' : 'indexer_unavailable';
      expect(views.conditions()).toMatchObject({ core: condition, economy: condition });
      expect(views.safeState()).toBe(isLive ? state : null);
    }
  });

  it('is unavailable for a state that fails a check', () => {
    const good = createEconomyViews();
    good.clock.advance(staleMs);
    expect(history(good.views, 'now').source).toBe('live');
    good.clock.advance(1);
    expect(history(good.views, 'now').source).toBe('durable-cache');
    const unknownVersion = buildState(buildEconomyEvents({ codeVersion: 3n }));
    const belowDeployment = buildState(buildEconomyEvents(), { number: 9n });
    for (const state of [unknownVersion, belowDeployment]) {
      const { views, clock } = createStateViews(state);
      expect(views.settlements('now').status).toBe('unavailable');
      clock.advance(staleMs + 1);
      expect(views.settlements('now').status).toBe('unavailable');
      expect(views.safeState()).toBeNull();
    }
  });
});
