import { expect, it } from 'vitest';
import { findChainAvailability } from '../../actors/chain/state/chainAvailability.ts';
import { findPhase } from '../../actors/chain/state/collectionPhase.ts';
import { findMergeState } from '../../actors/chain/state/mergeState.ts';
import { closeSegments, openSegment } from '../../actors/chain/state/rewards.ts';
import { findSettlementSource } from '../../actors/chain/state/settlementSource.ts';

const reasons = [
  ['isConfigured', false, 'indexer_disabled', false],
  ['isMismatched', true, 'indexer_mismatch', false],
  ['isCaughtUp', false, 'projection_rebuilding', true],
  ['isApplied', false, 'projection_failed', true],
  ['isIndexed', false, 'indexer_unavailable', true],
  ['isSafe', false, 'not_yet_safe', false],
  ['isSupported', false, 'unsupported_contract_version', false],
] as const;

it('the availability of the chain is the first reason that applies', () => {
  for (let bits = 0; bits < 2 ** reasons.length; bits++) {
    const isApplying = (index: number) => ((bits >> index) & 1) === 1;
    const input = Object.fromEntries(
      reasons.map(([name, when], index) => [name, isApplying(index) ? when : !when]),
    ) as Record<(typeof reasons)[number][0], boolean>;
    const [, , availability, isUsable] = reasons.find((_, index) => isApplying(index)) ?? [];
    expect(findChainAvailability(input)).toBe(availability ?? 'available');
    for (const hasLastGood of [false, true])
      expect(findSettlementSource({ availability: availability ?? 'available', hasLastGood })).toBe(
        availability === undefined ? 'live' : isUsable && hasLastGood ? 'durable-cache' : 'unavailable',
      );
  }
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
