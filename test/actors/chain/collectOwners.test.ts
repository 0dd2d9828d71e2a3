import { describe, expect, it } from 'vitest';
import { chainRecords } from '../../../actors/chain/records/chainRecords.ts';
import { collectOwners } from '../../../actors/chain/records/collectOwners.ts';
import { dispatchRecords } from '../../../actors/folds/foldRecord.ts';
import type { Address } from '../../../actors/schemas/hex.ts';
import { stateContracts, stateOwner } from '../../support/chain/economyState.ts';
import { buildClaim } from '../../support/chain/ownerEvents.ts';

const addresses = [stateOwner, stateContracts.mining, stateContracts.core] as const;

const writePosition = (tokenId: number, owner: Address) =>
  chainRecords.position.write(tokenId, {
    ...{ tokenId, owner, ownershipStartedAtMs: 1, level: 1, pending: null },
    ...{ nextMergeBlock: 0n, segments: [], paidBaseUnits: 0n },
  });

describe('owners of a snapshot', () => {
  it('are refused without an address, and with positions of others', () => {
    const { readers, complete } = collectOwners();
    const add = dispatchRecords(...readers);
    const nobody = chainRecords.owner.write('nobody', { activityCount: 0, activity: [] });
    expect(() => add(nobody)).toThrow('activity belongs to nobody, which is not an address');
    add(writePosition(1, stateOwner));
    expect(() => complete(null)).toThrow(`${stateOwner} has positions, but no record`);
  });

  it('await rows for the sender of a transfer before its receiver', () => {
    const collected = collectOwners();
    const add = dispatchRecords(...collected.readers);
    const [sender, receiver] = addresses;
    const activity = [buildClaim({ blockNumber: 3n }, { from: sender, to: receiver })];
    for (const owner of [receiver, sender])
      add(chainRecords.owner.write(owner, { activityCount: 1, activity }));
    const { pending } = collected.complete(null).activityProgress;
    expect(pending.map(({ owner }) => owner).toArray()).toEqual([sender, receiver]);
  });
});
