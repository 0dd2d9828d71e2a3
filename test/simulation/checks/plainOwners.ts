import { type Address, zeroAddress } from '../../../actors/schemas/hex.ts';
import { accountPosition } from '../chain/contracts/miningContract.ts';
import { scale } from '../chain/contracts/settings.ts';
import type { EthereumChain } from '../chain/ethereumNode.ts';
import type { LoggedEvent, SealedBlock } from '../chain/sealBlock.ts';

/** An owner's activity as a page shows it. */
interface PlainActivity {
  readonly kind: string;
  readonly tokenIds: readonly string[];
  readonly blockHash: string;
  readonly transactionHash: string;
  readonly logIndex: number;
}

/** An owner's activity through a block, newest first, from the logs of the block's branch. */
export function listPlainActivity(
  chain: EthereumChain,
  owner: Address,
  through: SealedBlock,
): PlainActivity[] {
  const found: PlainActivity[] = [];
  for (let block: SealedBlock | null = through; block !== null; block = findParent(chain, block))
    for (const event of block.events.toReversed()) {
      const activity = describeActivity(event, owner);
      if (activity !== null) found.push({ ...activity, blockHash: block.hash });
    }
  return found;
}

function findParent(chain: EthereumChain, { header }: SealedBlock): SealedBlock | null {
  return chain.find(header.parentHash as SealedBlock['hash']);
}

function describeActivity(event: LoggedEvent, owner: Address): Omit<PlainActivity, 'blockHash'> | null {
  const { contract, name, args, transactionHash, logIndex } = event;
  const describe = (kind: string, tokenIds: readonly unknown[]) => ({
    kind,
    tokenIds: tokenIds.map(String),
    transactionHash,
    logIndex,
  });
  if (contract === 'mining' && args.owner === owner) {
    if (name === 'PositionMinted') return describe('mint', [args.tokenId]);
    if (name === 'PositionsMerged') return describe('merge', [args.survivorTokenId, args.donorTokenId]);
    if (name === 'RewardsClaimed') return describe('claim', args.tokenIds as readonly bigint[]);
  }
  if (contract !== 'collection' || name !== 'Transfer') return null;
  const { from, to } = args;
  const isMove = from !== zeroAddress && to !== zeroAddress && (from === owner || to === owner);
  return isMove ? describe('transfer', [args.tokenId]) : null;
}

/** An owner's positions in the contracts after a block, ascending. */
export function listPlainPositions({ state }: SealedBlock, owner: Address): object[] {
  return [...state.collection.owners]
    .filter(([, one]) => one === owner)
    .map(([tokenId]) => tokenId)
    .sort((a, b) => (a < b ? -1 : 1))
    .map((tokenId) => {
      const position = accountPosition(state, tokenId);
      return {
        tokenId: String(tokenId),
        level: position.level,
        activeWeight: String(position.activeWeight),
        targetWeight: String(position.targetWeight),
        pendingRound: position.pendingRound === null ? null : String(position.pendingRound),
        nextMergeBlock: String(position.nextMergeBlock),
        claimableBaseUnits: String(position.unclaimed / scale),
      };
    });
}
