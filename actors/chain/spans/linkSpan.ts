import type { BlockHash } from '../../schemas/hex.ts';
import type { ChainSpan } from './chainSpan.ts';

interface LinkableBlock {
  readonly number: bigint;
  readonly hash: BlockHash;
}

interface KnownChain<Block extends LinkableBlock> {
  /** Last block of the newest span; null before the first. */
  readonly head: Block | null;
  /** Number of reorganizations in the known chain. */
  readonly forks: number;
  /** Where the first span must begin; null if it may begin anywhere. */
  readonly deploymentBlock: bigint | null;
  /** The newest known block at or below a number. */
  readonly newestThrough: (number: bigint) => Block | undefined;
}

/** How a span links to the known chain. */
export type SpanLink<Block extends LinkableBlock> =
  /** It is the first span. */
  | { readonly kind: 'first' }
  /** It follows the head. */
  | { readonly kind: 'next' }
  /** It replaces the blocks above a known block. */
  | { readonly kind: 'fork'; readonly fork: Block }
  /** It replaces all blocks from the deployment block on. */
  | { readonly kind: 'restart' }
  /** Its parent lies below every known block. */
  | { readonly kind: 'belowKnown'; readonly detail: string }
  /** It does not link. */
  | { readonly kind: 'unlinked'; readonly detail: string };

/** The rule by which spans form a chain. The fold, the publisher and the proof of spans share it. */
export function linkSpan<Block extends LinkableBlock>(
  span: Pick<ChainSpan, 'fromBlock' | 'toBlock' | 'parentHash' | 'fork'>,
  known: KnownChain<Block>,
): SpanLink<Block> {
  const { fromBlock, toBlock, parentHash } = span;
  const { head, deploymentBlock } = known;
  if (head === null) {
    if (deploymentBlock === null || fromBlock === deploymentBlock) return { kind: 'first' };
    return refuse(
      `block ${fromBlock} cannot be the first: the deployment begins with block ${deploymentBlock}`,
    );
  }
  const parentNumber = fromBlock - 1n;
  if (parentNumber > head.number) return refuse(`block ${fromBlock} does not follow block ${head.number}`);
  if (parentNumber === head.number && parentHash === head.hash) return { kind: 'next' };
  const isNewFork = span.fork > known.forks;
  if (toBlock <= head.number && !isNewFork)
    return refuse(`block ${toBlock} is known already: the newest one is ${head.number}`);

  const fork = known.newestThrough(parentNumber);
  const found =
    fork?.number === parentNumber
      ? `block ${parentNumber} is ${fork.hash}`
      : `block ${parentNumber} is unknown`;
  const mismatch = `block ${fromBlock} names parent ${parentHash}, but ${found}`;
  if (fork === undefined) {
    if (fromBlock === deploymentBlock && isNewFork) return { kind: 'restart' };
    if (deploymentBlock === null || fromBlock > deploymentBlock)
      return { kind: 'belowKnown', detail: mismatch };
  }
  if (fork?.number !== parentNumber || fork.hash !== parentHash) return refuse(mismatch);
  return { kind: 'fork', fork };
}

function refuse(detail: string): { readonly kind: 'unlinked'; readonly detail: string } {
  return { kind: 'unlinked', detail };
}
