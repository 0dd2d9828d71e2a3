import type { ChainViews } from '../../../actors/views/chain/chainViewTypes.ts';
import { encodeOwnerCursor } from '../../../actors/views/chain/ownerCursor.ts';
import type { MinerHolder } from '../../explorer/page.ts';

/** Finds the owner of a miner at the safe block; null if the miner or the chain is unknown. */
export function findHolder(chain: ChainViews, tokenId: number): MinerHolder | null {
  const state = chain.safeState();
  const owner = state?.minerPositions.get(tokenId)?.owner;
  if (state === null || owner === undefined) return null;
  const { number: block, hash: blockHash } = state.block;
  const after = tokenId - 1;
  const cursor =
    after === 0 ? null : encodeOwnerCursor({ list: 'portfolio', block, blockHash, owner, after });
  return { address: owner, cursor };
}
