import type { Address } from '../../../actors/schemas/hex.ts';
import { describeActivity } from '../../reference/mining.ts';
import { accountPosition } from '../chain/contracts/miningContract.ts';
import { scale } from '../chain/contracts/settings.ts';
import type { EthereumChain } from '../chain/ethereumNode.ts';
import type { SealedBlock } from '../chain/sealBlock.ts';

/** An owner's activity as a page shows it, through a block, newest first, from the logs of the block's branch. */
export function listPlainActivity(chain: EthereumChain, owner: Address, through: SealedBlock): object[] {
  const found: object[] = [];
  for (let block: SealedBlock | null = through; block !== null; block = findParent(chain, block))
    for (const event of block.events.toReversed())
      for (const { kind, tokenIds } of describeActivity(event, owner)) {
        const { transactionHash, logIndex } = event;
        found.push({ kind, tokenIds, source: { transactionHash, logIndex, blockHash: block.hash } });
      }
  return found;
}

function findParent(chain: EthereumChain, { header }: SealedBlock): SealedBlock | null {
  return chain.find(header.parentHash as SealedBlock['hash']);
}

/** An owner's positions in the contracts after a block, ascending. */
export function listPlainPositions({ state }: SealedBlock, owner: Address): object[] {
  return [...state.collection.owners]
    .filter(([, one]) => one === owner)
    .map(([tokenId]) => tokenId)
    .sort((a, b) => (a < b ? -1 : 1))
    .map((tokenId) => {
      const position = accountPosition(state, tokenId);
      return { ...position, tokenId, claimableBaseUnits: position.unclaimed / scale };
    });
}
