import type { OwnerEvent } from '../../../actors/chain/state/ownerState.ts';
import { stateOwner } from './economyState.ts';
import { buildBlockHash, buildTransactionHash } from './hashes.ts';

/** A claim at a place of the chain. */
export function buildClaim(
  { blockNumber, logIndex = 0 }: { readonly blockNumber: bigint; readonly logIndex?: number },
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
    source: {
      blockNumber,
      blockHash: buildBlockHash(1),
      blockTimestampMs: 0,
      transactionHash: buildTransactionHash(1),
      transactionIndex: 0,
      logIndex,
    },
    position: 1,
    ...members,
  };
}
