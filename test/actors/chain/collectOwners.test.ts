import { describe, expect, it } from 'vitest';
import { chainRecords } from '../../../actors/chain/records/chainRecords.ts';
import { collectOwners } from '../../../actors/chain/records/collectOwners.ts';
import type { MinerPosition } from '../../../actors/chain/state/miningState.ts';
import { dispatchRecords, type FoldRecord } from '../../../actors/foldRecord.ts';
import { type Address, toAddress } from '../../../actors/schemas/hex.ts';
import { stateOwner } from '../../support/chain/economyState.ts';
import { buildClaim } from '../../support/chain/ownerEvents.ts';

const buildOwnerEvent = (number: number) =>
  buildClaim({ blockNumber: BigInt(number) }, { tokenIds: [BigInt(number)], to: stateOwner });

/** Collects one owner's events, which are written and removed by number. */
function collect(put: readonly number[], removed: readonly number[] = [], later: readonly number[] = []) {
  const collected = collectOwners();
  const add = dispatchRecords(...collected.readers);
  const putAll = (numbers: readonly number[]) => {
    for (const number of numbers)
      add(chainRecords.activity.write(`${stateOwner}/${number}`, buildOwnerEvent(number)));
  };
  putAll(put);
  for (const number of removed) add(chainRecords.activity.writeChange(`${stateOwner}/${number}`, undefined));
  putAll(later);
  return collected;
}

function listNumbers(collected: ReturnType<typeof collectOwners>) {
  const known = collected.complete(null).owners.get(stateOwner);
  const tokens = known?.activity.map(({ tokenIds }) => Number(tokenIds[0])).toArray();
  return { count: known?.activityCount, numbers: tokens };
}

describe('events of an owner', () => {
  it('may begin at any number, and are evicted and removed at both ends', () => {
    expect(listNumbers(collect([7, 8, 9]))).toEqual({ count: 10, numbers: [7, 8, 9] });
    expect(listNumbers(collect([7, 8, 9], [7, 9]))).toEqual({ count: 9, numbers: [8] });
    expect(listNumbers(collect([7, 8, 9], [8, 7, 30, 2]))).toEqual({ count: 10, numbers: [9] });
    // A reorganization brings evicted events back, in any order.
    expect(listNumbers(collect([7, 8], [7], [5, 7, 6]))).toEqual({ count: 9, numbers: [5, 6, 7, 8] });
    expect(listNumbers(collect([7, 8], [7, 8], [3]))).toEqual({ count: 4, numbers: [3] });
    expect(listNumbers(collect([7, 8], [7, 8]))).toEqual({ count: undefined, numbers: undefined });
  });

  it('are refused if one is missing in between', () => {
    expect(() => collect([7, 9]).complete(null)).toThrow(`activity of ${stateOwner} 8 is missing`);
    expect(() => collect([7, 8, 9], [8]).complete(null)).toThrow(`activity of ${stateOwner} 8 is missing`);
  });

  it('are in the order of the chain, with the number of rows', () => {
    const { logged, rowCount } = collect([3, 4, 5, 6]).complete(4n).activityProgress;
    expect(logged.map(({ eventNumber }) => eventNumber).toArray()).toEqual([3, 4, 5, 6]);
    expect(rowCount).toBe(2);
    expect(collect([3, 4]).complete(null).activityProgress.rowCount).toBe(0);
  });

  it('are listed once after any evictions, removals and returns', () => {
    const list = (...of: Parameters<typeof collect>) =>
      collect(...of)
        .complete(7n)
        .activityProgress.logged.map(({ eventNumber }) => eventNumber)
        .toArray();
    expect(list([7, 8, 9], [7, 9])).toEqual([8]);
    expect(list([7, 8], [7], [5, 7, 6])).toEqual([5, 6, 7, 8]);
    expect(list([7, 8], [7, 8], [8, 9])).toEqual([8, 9]);
    expect(list([7, 8], [7, 8])).toEqual([]);
  });
});

const [giver, taker] = [toAddress(`0x${'f'.repeat(40)}`), toAddress(`0x${'1'.repeat(40)}`)];

function collectRecords(records: readonly FoldRecord[]) {
  const collected = collectOwners();
  const add = dispatchRecords(...collected.readers);
  for (const record of records) add(record);
  return collected.complete(null);
}

describe('events of several owners', () => {
  const writeEvent = (
    owner: Address,
    number: number,
    block: number,
    logIndex: number,
    from: Address | null,
  ) => {
    const event = buildOwnerEvent(block);
    const source = { ...event.source, logIndex };
    return chainRecords.activity.write(`${owner}/${number}`, { ...event, from, source });
  };
  const listLogged = (records: readonly FoldRecord[]) =>
    collectRecords(records)
      .activityProgress.logged.map(
        ({ owner, eventNumber }) => `${owner === giver ? 'giver' : 'taker'} ${eventNumber}`,
      )
      .toArray();

  it('are in the order of the chain, in any order of their records', () => {
    const ofGiver = [writeEvent(giver, 0, 7, 1, giver), writeEvent(giver, 1, 7, 2, taker)];
    const ofTaker = [writeEvent(taker, 0, 7, 0, null), writeEvent(taker, 1, 7, 1, giver)];
    const ofBoth = [writeEvent(taker, 2, 7, 2, taker), writeEvent(giver, 2, 8, 0, null)];
    const logged = ['taker 0', 'giver 0', 'taker 1', 'taker 2', 'giver 1', 'giver 2'];
    expect(listLogged([...ofGiver, ...ofTaker, ...ofBoth])).toEqual(logged);
    expect(listLogged([...ofTaker, ...ofGiver, ...ofBoth])).toEqual(logged);
  });

  it('move to the place of the events that replaced them in a reorganization', () => {
    const first = [writeEvent(taker, 0, 7, 0, null), writeEvent(giver, 0, 8, 0, null)];
    expect(listLogged(first)).toEqual(['taker 0', 'giver 0']);
    const replaced = writeEvent(taker, 0, 9, 0, null);
    expect(listLogged([...first, replaced])).toEqual(['giver 0', 'taker 0']);
  });
});

describe('tokens of an owner', () => {
  const writePosition = (tokenId: number, owner: Address | null) =>
    chainRecords.position.writeChange(tokenId, owner === null ? undefined : buildPosition(tokenId, owner));

  it('follow from the latest records of positions, ascending', () => {
    const held = [9, 2, 5, 30, 4].map((tokenId) => writePosition(tokenId, giver));
    const event = chainRecords.activity.write(`${giver}/0`, buildOwnerEvent(7));
    const later = [writePosition(5, taker), writePosition(30, null), writePosition(3, taker)];
    const listTokens = (records: readonly FoldRecord[]) => {
      const { owners } = collectRecords(records);
      return [owners.get(giver)?.tokenIds, owners.get(taker)?.tokenIds];
    };
    expect(listTokens(held)).toEqual([[2, 4, 5, 9, 30], undefined]);
    expect(listTokens([...held, event, ...later])).toEqual([
      [2, 4, 9],
      [3, 5],
    ]);
    expect(listTokens([...held.slice(0, 1), writePosition(9, taker)])).toEqual([undefined, [9]]);
  });
});

describe('the number of an owner’s events', () => {
  it('comes from its record if no event is in memory', () => {
    const count = chainRecords.activityCount.write(giver, 5);
    const listCount = (...records: readonly FoldRecord[]) =>
      collectRecords(records).owners.get(giver)?.activityCount;
    expect(listCount(count)).toBe(5);
    const event = chainRecords.activity.write(`${giver}/5`, buildOwnerEvent(7));
    expect(listCount(count, event)).toBe(6);
    const evicted = chainRecords.activity.writeChange(`${giver}/5`, undefined);
    expect(listCount(event, evicted, chainRecords.activityCount.write(giver, 6))).toBe(6);
    expect(listCount(count, chainRecords.activityCount.writeChange(giver, undefined))).toBeUndefined();
  });
});

const buildPosition = (tokenId: number, owner: Address): MinerPosition => ({
  tokenId,
  owner,
  ownershipStartedAtMs: 0,
  level: 1,
  pending: null,
  nextMergeBlock: 0n,
  segments: [],
  paidBaseUnits: 0n,
});
