import { describe, expect, it } from 'vitest';
import { findChainAvailability } from '../../actors/chain/state/chainAvailability.ts';
import { findPhase } from '../../actors/chain/state/collectionPhase.ts';
import { findMergeState } from '../../actors/chain/state/mergeState.ts';
import { findSettlementSource } from '../../actors/chain/state/settlementSource.ts';

describe('availability of the chain', () => {
  it('is the first reason that applies', () => {
    const reasons = [
      ['isConfigured', false, 'indexer_disabled'],
      ['isMismatched', true, 'indexer_mismatch'],
      ['isCaughtUp', false, 'projection_rebuilding'],
      ['isApplied', false, 'projection_failed'],
      ['isIndexed', false, 'indexer_unavailable'],
      ['isSafe', false, 'not_yet_safe'],
      ['isSupported', false, 'unsupported_contract_version'],
    ] as const;
    for (let bits = 0; bits < 2 ** reasons.length; bits++) {
      const isApplying = (index: number) => ((bits >> index) & 1) === 1;
      const input = Object.fromEntries(
        reasons.map(([name, when], index) => [name, isApplying(index) ? when : !when]),
      ) as Record<(typeof reasons)[number][0], boolean>;
      const first = reasons.find((_, index) => isApplying(index));
      expect(findChainAvailability(input)).toBe(first?.[2] ?? 'available');
    }
  });
});

describe('the source of settlement history', () => {
  it.each([
    ['live', ['available'], [true, false]],
    ['durable-cache', ['indexer_unavailable', 'projection_rebuilding', 'projection_failed'], [true]],
    ['unavailable', ['indexer_unavailable', 'projection_rebuilding', 'projection_failed'], [false]],
    [
      'unavailable',
      ['indexer_disabled', 'indexer_mismatch', 'not_yet_safe', 'unsupported_contract_version'],
      [true],
    ],
  ] as const)('is %s with %j, and a last good state %j', (source, availabilities, hasLastGoods) => {
    for (const availability of availabilities)
      for (const hasLastGood of hasLastGoods)
        expect(findSettlementSource({ availability, hasLastGood })).toBe(source);
  });
});

describe('the phase of the sale', () => {
  const sale = {
    allowlistStart: 10n,
    allowlistEnd: 20n,
    publicPrice: 1n,
    publicAllocation: 5n,
    protocolReserve: 0n,
  };
  const collection = { sale, isClosed: false, publicMinted: 0n };

  it('follows the clock from the start of the allowlist to its end', () => {
    const phases = [9_999, 10_000, 19_999, 20_000].map((timestampMs) => findPhase(collection, timestampMs));
    expect(phases).toEqual(['pending', 'allowlist', 'allowlist', 'public']);
  });

  it('is closed after its closure, even unconfigured, and when it is sold out', () => {
    expect(findPhase({ ...collection, sale: null }, 15_000)).toBe('unconfigured');
    expect(findPhase({ ...collection, sale: null, isClosed: true }, 15_000)).toBe('closed');
    expect(findPhase({ ...collection, publicMinted: 5n }, 15_000)).toBe('closed');
  });
});

describe('the way to the next merge', () => {
  const position = {
    level: 1,
    maximumLevel: 5,
    hasPendingWeight: false,
    nextMergeBlock: 8n,
    blockHeight: 8n,
  };

  it('is terminal at the highest level, else pending, then cooling down, then ready', () => {
    expect(findMergeState(position)).toBe('ready');
    expect(findMergeState({ ...position, nextMergeBlock: 9n })).toBe('cooldown');
    expect(findMergeState({ ...position, nextMergeBlock: 9n, hasPendingWeight: true })).toBe('pending');
    expect(findMergeState({ ...position, level: 5, hasPendingWeight: true })).toBe('terminal');
  });
});
