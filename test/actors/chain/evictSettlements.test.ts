import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { evictOldSettlements, settlementsRetainedMs } from '../../../actors/chain/fold/evictSettlements.ts';
import { emptySpanFoldState } from '../../../actors/chain/fold/spanFoldState.ts';
import { createChainRestoration, encodeSpanFold } from '../../../actors/chain/records/chainSnapshot.ts';
import type { ChainState } from '../../../actors/chain/state/chainState.ts';
import { settlementRanges } from '../../../actors/views/chain/settlementHistory.ts';
import type { SettlementHistoryView } from '../../../actors/views/chain/settlementView.ts';
import {
  applyEvents,
  buildState,
  coreEvents,
  createStateViews,
  economyEvents,
  plainEconomy,
  type StateEvent,
  settlementEvents,
} from '../../support/chain/economyState.ts';
import { manualClock } from '../../support/manualClock.ts';

const hourMs = 3_600_000;
const startMs = Date.UTC(2026, 1, 3, 10);

/** A settlement: whether it completes a block, and whether a checkpoint mints for everything settled so far. */
interface Logged {
  readonly completes: boolean;
  readonly mints: boolean;
}

const entry = fc.record({
  gapHours: fc.oneof(fc.integer({ min: 1, max: 48 }), fc.integer({ min: 1, max: 300 })),
  completes: fc.boolean(),
  mints: fc.boolean(),
});

/** The state after a block with these events. */
function applyBlock(before: ChainState, events: readonly StateEvent[], timestampMs: number): ChainState {
  const block = { ...before.block, number: before.block.number + 1n, timestampMs };
  return applyEvents(
    { ...before, block, position: before.position + 1 },
    events.map((event) => ({ ...event, atMs: timestampMs })),
  );
}

function listEvents(state: ChainState, { completes, mints }: Logged): StateEvent[] {
  const { core, mining } = state;
  const settledRound = core.settledThroughRound + 3n;
  const settled = settlementEvents(
    {
      ...plainEconomy,
      previousRound: core.settledThroughRound,
      settledRound,
      work: 100n,
      nonce: core.authorizationNonce,
      blockUnits: core.cumulativeBlockUnits + (completes ? 2_000_000_000n : 1_000n),
    },
    { cumulativeWork: core.cumulativeWork + 100n },
  );
  if (!mints) return settled;
  const rounds = [...state.unprocessedRounds.map(({ roundId }) => roundId), settledRound];
  const ofMining = (name: string, args: object): StateEvent => ({
    ...{ contract: 'mining', name },
    args: { completedBlockCount: 0n, eligibleWeight: 1n, ...args },
  });
  const minted = rounds.map((roundId) =>
    ofMining('RoundMinted', { roundId, amount: roundId, accumulatedPerWeight: 0n }),
  );
  const amount = rounds.reduce((sum, roundId) => sum + roundId, 0n);
  const checkpoint = ofMining('Checkpointed', {
    afterRound: mining.processedThroughRound,
    throughRound: settledRound,
    cumulativeWork: 0n,
    cumulativeBlockUnits: core.cumulativeBlockUnits,
    amount,
    totalMinted: mining.mintedBaseUnits + amount,
  });
  return [...settled, ...minted, checkpoint];
}

function showAll(state: ChainState, nowMs: number) {
  const { views } = createStateViews(state, undefined, manualClock(nowMs));
  return settlementRanges.map((range) => views.settlements(range));
}

function createCapture(state: ChainState) {
  return { state: { ...emptySpanFoldState, safe: [state] }, newestSpanAtMs: 0 };
}

const begun = buildState([...coreEvents(), ...economyEvents()], { timestampMs: startMs });

/** A chain folded twice: with everything in memory, and with old entries evicted. */
function foldTwice(entries: readonly (Logged & { readonly gapHours: number })[]) {
  let whole = begun;
  let short = begun;
  for (const { gapHours, ...logged } of entries) {
    const timestampMs = whole.block.timestampMs + gapHours * hourMs;
    const events = listEvents(whole, logged);
    whole = applyBlock(whole, events, timestampMs);
    short = evictOldSettlements(applyBlock(short, events, timestampMs));
  }
  return { whole, short };
}

describe('settlements and checkpoints', () => {
  it('are evicted without a change of any range', () => {
    const evicted = { settlements: 0, checkpoints: 0 };
    const history = fc.array(entry, { minLength: 40, maxLength: 90 });
    fc.assert(
      fc.property(history, fc.integer({ min: -5, max: 40 }), (entries, lateHours) => {
        const { whole, short } = foldTwice(entries);
        const nowMs = whole.block.timestampMs + lateHours * hourMs;
        expect(showAll(short, nowMs)).toEqual(showAll(whole, nowMs));
        for (const list of ['settlements', 'checkpoints'] as const) {
          evicted[list] += short.archive[list].count;
          expect(short[list].size).toBe(whole[list].size - short.archive[list].count);
          const newestEvicted = whole[list].take(short.archive[list].count).last();
          expect(short.archive[list].throughMs).toBe(newestEvicted?.source.blockTimestampMs ?? 0);
        }
        const restoration = createChainRestoration();
        for (const record of encodeSpanFold(createCapture(short))) restoration.add(record);
        const restored = restoration.complete().state.safe[0] as ChainState;
        expect(showAll(restored, nowMs)).toEqual(showAll(short, nowMs));
      }),
      { numRuns: 10 },
    );
    expect(Math.min(evicted.settlements, evicted.checkpoints)).toBeGreaterThan(100);
  });

  it('stay until their rounds are minted', () => {
    const unminted = { gapHours: 300, completes: true, mints: false };
    const { whole, short } = foldTwice([...Array(9).fill(unminted), { ...unminted, mints: true }]);
    expect(showAll(short, short.block.timestampMs)).toEqual(showAll(whole, short.block.timestampMs));
  });

  it('are unavailable for a range with evicted entries', () => {
    const often = { gapHours: 96, completes: true, mints: true };
    const { short } = foldTwice(Array(40).fill(often));
    expect(short.archive.settlements.count).toBeGreaterThan(10);
    const [now, ...ranges] = showAll(short, short.block.timestampMs - settlementsRetainedMs - 120 * hourMs);
    expect(now).toMatchObject({ status: 'available', summary: { settlementCount: 40n } });
    for (const range of ranges)
      expect(range).toMatchObject({ status: 'unavailable', reason: 'indexer_unavailable' });
    const { views, clock } = createStateViews(begun);
    const { window } = views.settlements('24h') as SettlementHistoryView;
    const previousStartMs = (window?.startAtMs ?? 0) - 24 * hourMs;
    for (const list of ['settlements', 'checkpoints'] as const)
      for (const [throughMs, status] of [
        [previousStartMs - 1, 'available'],
        [previousStartMs, 'unavailable'],
      ] as const) {
        const archive = { ...begun.archive, [list]: { ...begun.archive[list], throughMs } };
        expect(showAll({ ...begun, archive }, clock.nowMs())[1]).toMatchObject({ status });
      }
  });
});
