import type { OwnerEvent } from '../../../actors/chain/state/ownerState.ts';
import { stateOwner } from './economyState.ts';
import { buildSource } from './hashes.ts';

/** A claim at a place of the chain. */
export function buildClaim(
  place: { readonly blockNumber: bigint; readonly logIndex?: number },
  members: Partial<OwnerEvent> = {},
): OwnerEvent {
  return {
    kind: 'claim',
    address: stateOwner,
    tokenIds: [],
    amountBaseUnits: 1n,
    from: null,
    to: null,
    level: null,
    effectiveRound: null,
    nextMergeBlock: null,
    source: buildSource(place),
    position: 1,
    ...members,
  };
}
