import { describe, expect, it } from 'vitest';
import { chainRecords } from '../../../actors/chain/records/chainRecords.ts';
import { collectOwners } from '../../../actors/chain/records/collectOwners.ts';
import { dispatchRecords } from '../../../actors/foldRecord.ts';
import { stateContracts, stateOwner } from '../../support/chain/economyState.ts';
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

describe('events of an owner', () => {
  it('are logged in the order of the chain, whatever the order of their records', () => {
    const collected = collectOwners();
    const add = dispatchRecords(...collected.readers);
    const receiver = stateContracts.mining;
    const put = (owner: string, number: number, blockNumber: bigint) => {
      const event = buildClaim({ blockNumber }, { from: stateOwner, to: receiver });
      add(chainRecords.activity.write(`${owner}/${number}`, event));
    };
    put(receiver, 0, 2n);
    put(receiver, 1, 3n);
    put(stateOwner, 0, 1n);
    put(stateOwner, 1, 3n);
    const { logged } = collected.complete(null).activityProgress;
    // The sender of a transfer comes before its receiver.
    expect(logged.toArray()).toEqual([
      { owner: stateOwner, eventNumber: 0, blockNumber: 1n },
      { owner: receiver, eventNumber: 0, blockNumber: 2n },
      { owner: stateOwner, eventNumber: 1, blockNumber: 3n },
      { owner: receiver, eventNumber: 1, blockNumber: 3n },
    ]);
  });

  it('are refused if one is missing in between', () => {
    expect(() => collect([7, 9]).complete(null)).toThrow(`activity of ${stateOwner} 8 is missing`);
    expect(() => collect([7, 8, 9], [8]).complete(null)).toThrow(`activity of ${stateOwner} 8 is missing`);
  });
});
