import { describe, expect, it } from 'vitest';
import { chainRecords } from '../../../actors/chain/chainRecords.ts';
import { collectOwners } from '../../../actors/chain/collectOwners.ts';
import type { OwnerEvent } from '../../../actors/chain/ownerState.ts';
import { dispatchRecords } from '../../../actors/foldRecord.ts';
import { stateOwner } from '../../support/chain/economyState.ts';
import { buildBlockHash, buildTransactionHash } from '../../support/chain/hashes.ts';

const buildOwnerEvent = (number: number): OwnerEvent => ({
  kind: 'claim',
  address: stateOwner,
  tokenIds: [BigInt(number)],
  amountBaseUnits: 1n,
  from: null,
  to: stateOwner,
  level: null,
  effectiveRound: null,
  nextMergeBlock: null,
  source: {
    blockNumber: BigInt(number),
    blockHash: buildBlockHash(1),
    blockTimestampMs: 0,
    transactionHash: buildTransactionHash(1),
    transactionIndex: 0,
    logIndex: 0,
  },
  position: number + 1,
});

/** Records of events of one owner, put and removed by their numbers. */
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
  it('are those that are in memory, wherever they begin, and are evicted and taken away at both ends', () => {
    expect(listNumbers(collect([7, 8, 9]))).toEqual({ count: 10, numbers: [7, 8, 9] });
    expect(listNumbers(collect([7, 8, 9], [7, 9]))).toEqual({ count: 9, numbers: [8] });
    expect(listNumbers(collect([7, 8, 9], [8, 7, 30, 2]))).toEqual({ count: 10, numbers: [9] });
    // A reorganization brings evicted ones back, in any order.
    expect(listNumbers(collect([7, 8], [7], [5, 7, 6]))).toEqual({ count: 9, numbers: [5, 6, 7, 8] });
    expect(listNumbers(collect([7, 8], [7, 8], [3]))).toEqual({ count: 4, numbers: [3] });
    expect(listNumbers(collect([7, 8], [7, 8]))).toEqual({ count: undefined, numbers: undefined });
  });

  it('are refused where one is missing between others', () => {
    expect(() => collect([7, 9]).complete(null)).toThrow(`activity of ${stateOwner} 8 is missing`);
    expect(() => collect([7, 8, 9], [8]).complete(null)).toThrow(`activity of ${stateOwner} 8 is missing`);
  });

  it('are known in the order in which they were logged, with how many are rows', () => {
    const { logged, rowCount } = collect([3, 4, 5, 6]).complete(4n).activityProgress;
    expect(logged.map(({ eventNumber }) => eventNumber).toArray()).toEqual([3, 4, 5, 6]);
    expect(rowCount).toBe(2);
    expect(collect([3, 4]).complete(null).activityProgress.rowCount).toBe(0);
  });

  it('are counted as logged once, whatever was evicted, taken away and put again', () => {
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
