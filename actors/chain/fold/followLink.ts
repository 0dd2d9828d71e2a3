import { requireValue } from '../../../machines/requireValue.ts';
import { type Rejection, reject } from '../../messages/decodeMessage.ts';
import type { ChainSpan } from '../spans/chainSpan.ts';
import { linkSpan } from '../spans/linkSpan.ts';
import type { ChainState, KnownBlock } from '../state/chainState.ts';
import {
  emptySpanFoldState,
  type Reorganization,
  type SpanFoldSettings,
  type SpanFoldState,
  toKnownBlock,
} from './spanFoldState.ts';

/** A fork lies below every retained state, so an older snapshot is needed. */
export class ForkBelowStates extends Error {
  override readonly name = 'ForkBelowStates';
  readonly forkBlock: bigint;

  constructor(forkBlock: bigint, oldestRetained: bigint) {
    super(
      `the chain was reorganized above block ${forkBlock}, but the oldest retained state is at block ${oldestRetained}`,
    );
    this.forkBlock = forkBlock;
  }
}

/** Whether records of the state were handed over to be stored. Only an older state, with a history of its own, undoes that. */
function hasHandedOver({ feed, activityProgress }: ChainState): boolean {
  return feed.evicted.through !== null || activityProgress.rowsThroughBlock !== null;
}

type Linked =
  | { readonly rejection: Rejection }
  | { readonly state: SpanFoldState; readonly reorganization: Reorganization | null };

/**
 * Drops the blocks that the span replaces, or rejects a span that does not link.
 *
 * @throws ForkBelowStates
 */
export function followLink(state: SpanFoldState, span: ChainSpan, settings: SpanFoldSettings): Linked {
  const { deploymentBlock, forkBlocks } = settings;
  const { head, forks } = state;
  const newestThrough = (number: bigint) =>
    state.unsafe.findLast((block) => block.number <= number) ??
    state.safe.findLast(({ block }) => block.number <= number)?.block ??
    state.forkStates.find(({ block }) => block.number === number)?.block;
  const linked = linkSpan<KnownBlock>(span, { head, forks, deploymentBlock, newestThrough });
  const forkBlock = span.fromBlock - 1n;
  /** Whether the state at the fork may have been dropped. */
  const mayBeOlder = !forkBlocks.has(forkBlock);
  switch (linked.kind) {
    case 'first':
      return { state: { ...state, rootHash: span.parentHash }, reorganization: null };
    case 'next':
      return { state, reorganization: null };
    case 'restart': {
      const newest = state.safe.at(-1);
      if (newest !== undefined && hasHandedOver(newest) && mayBeOlder)
        throw new ForkBelowStates(forkBlock, findOldestBlock(state));
      return {
        state: { ...emptySpanFoldState, rootHash: span.parentHash, reads: state.reads, forks: span.fork },
        reorganization: { forkBlock, safeDepth: state.safe.length },
      };
    }
    case 'fork':
      return forkAt(state, linked.fork, span.fork);
    case 'belowKnown':
      if (mayBeOlder) throw new ForkBelowStates(forkBlock, findOldestBlock(state));
      return reject('unlinked_span', linked.detail);
    case 'unlinked':
      return reject('unlinked_span', linked.detail);
  }
}

function forkAt(state: SpanFoldState, fork: KnownBlock, spanFork: number): Linked {
  const forkBlock = fork.number;
  const isKept = ({ block }: ChainState) => block.number <= forkBlock;
  const [safe, forkStates] = [state.safe.filter(isKept), state.forkStates.filter(isKept)];
  // Below every other state, the fold goes on from the state at the fork.
  const base = safe.length === 0 ? forkStates.splice(-1) : safe;
  const isFaultReplaced = state.fault !== null && forkBlock < state.fault.block.number;
  return {
    state: {
      ...state,
      safe: base,
      forkStates,
      reversible: state.reversible.filter((number) => number <= forkBlock),
      unsafe: state.unsafe.filter(({ number }) => number <= forkBlock),
      fault: isFaultReplaced ? null : state.fault,
      head: toKnownBlock(fork),
      forks: Math.max(state.forks, spanFork),
    },
    reorganization: { forkBlock, safeDepth: state.safe.length - safe.length },
  };
}

/** The oldest block that the fold can go back to. The state must hold a block. */
function findOldestBlock({ safe, unsafe }: SpanFoldState): bigint {
  return requireValue(safe[0]?.block ?? unsafe[0], 'a folded block').number;
}
