import { describe, expect, it } from 'vitest';
import { chainRecords } from '../../../actors/chain/records/chainRecords.ts';
import { collectOwners } from '../../../actors/chain/records/collectOwners.ts';
import { dispatchRecords } from '../../../actors/foldRecord.ts';
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

describe('events of an owner', () => {
  it('are refused if one is missing in between', () => {
    expect(() => collect([7, 9]).complete(null)).toThrow(`activity of ${stateOwner} 8 is missing`);
    expect(() => collect([7, 8, 9], [8]).complete(null)).toThrow(`activity of ${stateOwner} 8 is missing`);
  });
});
