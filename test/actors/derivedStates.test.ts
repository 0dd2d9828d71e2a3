import { expect, it } from 'vitest';
import type { ChainAvailability } from '../../actors/chain/state/chainAvailability.ts';
import { findPhase } from '../../actors/chain/state/collectionPhase.ts';
import { findMergeState } from '../../actors/chain/state/mergeState.ts';
import { closeSegments, openSegment } from '../../actors/chain/state/rewards.ts';
import { findSettlementSource } from '../../actors/chain/state/settlementSource.ts';
import { createChainConditions } from '../../actors/views/chain/chainConditions.ts';
import { buildEconomyEvents, buildState, createStateViews } from '../support/chain/economyState.ts';
import { buildBlockHash } from '../support/chain/hashes.ts';
import { manualClock } from '../support/manualClock.ts';

type StateViews = ReturnType<typeof createStateViews>;

/** Why the chain is unavailable, whether its last good state stays usable, and the cause. */
const reasons: readonly (readonly [ChainAvailability, boolean, (views: StateViews) => void])[] = [
  [
    'indexer_mismatch',
    false,
    ({ source }) => {
      source.isMismatched = true;
    },
  ],
  [
    'projection_rebuilding',
    true,
    ({ source }) => {
      source.isCaughtUp = false;
    },
  ],
  [
    'projection_failed',
    true,
    ({ source }) => {
      source.fault = { block: { number: 9n, hash: buildBlockHash(5), timestampMs: 0 }, detail: 'wrong' };
    },
  ],
  ['indexer_unavailable', true, ({ clock }) => clock.advance(120_001)],
  [
    'not_yet_safe',
    false,
    ({ source }) => {
      source.state = null;
    },
  ],
  [
    'unsupported_contract_version',
    false,
    ({ source }) => {
      source.state = buildState(buildEconomyEvents({ codeVersion: 9n }));
    },
  ],
];

it('the availability of the chain is the first reason that applies', () => {
  for (let bits = 0; bits < 2 ** reasons.length; bits++) {
    const views = createStateViews(buildState(buildEconomyEvents()));
    const applying = reasons.filter((_, index) => ((bits >> index) & 1) === 1);
    for (const [, , cause] of applying.toReversed()) cause(views);
    const [availability, isUsable] = applying[0] ?? ['available'];
    const { core, economy } = views.views.conditions();
    expect([core, economy]).toEqual([availability, availability]);
    for (const hasLastGood of [false, true])
      expect(findSettlementSource({ availability: availability as ChainAvailability, hasLastGood })).toBe(
        availability === 'available' ? 'live' : isUsable && hasLastGood ? 'durable-cache' : 'unavailable',
      );
  }
  const options = { isCaughtUp: () => false, staleAfterMs: 0, behindAfterMs: 0, clock: manualClock() };
  expect(createChainConditions({ ...options, genesisMs: 0, onChain: null }).core()).toBe('indexer_disabled');
  expect(findSettlementSource({ availability: 'indexer_disabled', hasLastGood: true })).toBe('unavailable');
});

it('the phase of the sale follows the clock while it is open', () => {
  const dates = { allowlistStart: 10n, allowlistEnd: 20n };
  const sale = { ...dates, publicPrice: 1n, publicAllocation: 5n, protocolReserve: 0n };
  const findPhaseAt = (timestampMs: number, change: object = {}) =>
    findPhase({ sale, isClosed: false, publicMinted: 4n, ...change }, timestampMs);
  const phases = [9_999, 10_000, 19_999, 20_000].map((atMs) => findPhaseAt(atMs));
  expect(phases).toEqual(['pending', 'allowlist', 'allowlist', 'public']);
  expect(findPhaseAt(15_000, { sale: null })).toBe('unconfigured');
  expect(findPhaseAt(15_000, { sale: null, isClosed: true })).toBe('closed');
  expect(findPhaseAt(15_000, { publicMinted: 5n })).toBe('closed');
});

it('a position merges only below the highest level, without pending weight', () => {
  const ready = { level: 4, maximumLevel: 5, hasPendingWeight: false, nextMergeBlock: 8n, blockHeight: 8n };
  expect(findMergeState(ready)).toBe('ready');
  expect(findMergeState({ ...ready, nextMergeBlock: 9n })).toBe('cooldown');
  expect(findMergeState({ ...ready, nextMergeBlock: 9n, hasPendingWeight: true })).toBe('pending');
  expect(findMergeState({ ...ready, level: 5, hasPendingWeight: true })).toBe('terminal');
});

it('a segment of weight that earned nothing is dropped once it is closed', () => {
  const segments = [openSegment(1n, 7n), openSegment(2n, 8n)];
  expect(closeSegments(segments, 2n)).toEqual([{ fromPerWeight: 1n, throughPerWeight: 2n, weight: 7n }]);
});
