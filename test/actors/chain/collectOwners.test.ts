import { describe, expect, it } from 'vitest';
import { collectOwners } from '../../../actors/chain/records/collectOwners.ts';
import type { Address } from '../../../actors/schemas/hex.ts';
import { stateOwner } from '../../support/chain/economyState.ts';
import { buildClaim } from '../../support/chain/ownerClaims.ts';
import { writtenContracts } from '../../support/chain/writtenSpans.ts';

const addresses = [stateOwner, writtenContracts.mining, writtenContracts.core] as const;

const buildPosition = (tokenId: number, owner: Address) => ({
  ...{ tokenId, owner, ownershipStartedAtMs: 1, level: 1, pending: null },
  ...{ nextMergeBlock: 0n, segments: [], paidBaseUnits: 0n },
});

describe('owners of a snapshot', () => {
  it('are refused without an address, and with positions of others', () => {
    const owners = collectOwners();
    expect(() => owners.takeOwner({ paidBaseUnits: 0n, activityCount: 0, activity: [] }, 'nobody')).toThrow(
      'activity belongs to nobody, which is not an address',
    );
    owners.takePosition(buildPosition(1, stateOwner));
    expect(() => owners.complete(null)).toThrow(`${stateOwner} has positions, but no record`);
  });

  it('await rows for the sender of a transfer before its receiver', () => {
    const collected = collectOwners();
    const [sender, receiver] = addresses;
    // The values of records may be changed.
    const activity = [buildClaim({ blockNumber: 3n }, { from: sender, to: receiver })];
    for (const owner of [receiver, sender])
      collected.takeOwner(
        { paidBaseUnits: 0n, activityCount: 1, activity: structuredClone(activity) as never },
        owner,
      );
    const { pending } = collected.complete(null).activityProgress;
    expect(pending.map(({ owner }) => owner).toArray()).toEqual([sender, receiver]);
  });
});
