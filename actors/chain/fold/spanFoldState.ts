import { z } from 'zod';
import type { Inferred } from '../../../machines/inferred.ts';
import { amount, count } from '../../schemas/stateScalars.ts';
import { blockHash } from '../../schemas/wireScalars.ts';
import type { ContractAddresses } from '../spans/chainEvent.ts';
import { chainEvent } from '../spans/chainEventSchema.ts';
import { proposerChange } from '../spans/chainReads.ts';
import { knownBlock } from '../spans/chainSpan.ts';
import { spanParts } from '../spans/spanParts.ts';
import type { ChainState, KnownBlock } from '../state/chainState.ts';

/** Retained states of safe blocks, for reorganizations below the newest one and for cursors. */
export const retainedStatesMax = 600;

const foldedBlock = knownBlock.extend({
  events: z.array(chainEvent),
  /** Why a log of the block does not belong to the contract that emitted it; null if all logs do. */
  problem: z.string().nullable(),
});
export type FoldedBlock = Inferred<typeof foldedBlock>;

/** A block whose events cannot follow the previous state. It and the blocks after it are not applied until another span replaces it. */
const chainFault = z.strictObject({
  block: knownBlock,
  /** Names the event and why it cannot follow. */
  detail: z.string(),
});
export type ChainFault = Inferred<typeof chainFault>;

/** Folded state of the spans, without the safe states. */
export const spanFoldScalars = z.strictObject({
  /** Last block of the newest span; null before the first. */
  head: knownBlock.nullable(),
  /**
   * Block numbers of the newest {@link retainedStatesMax} safe states, ascending. A restored fold keeps the numbers of states that it does
   * not hold, so that every fold of the stream evicts the same events at the same message.
   */
  reversible: z.array(amount),
  /** Known blocks above the newest safe one, ascending. From a fault on they have no events, and at most {@link retainedStatesMax} stay. */
  unsafe: z.array(foldedBlock),
  /** Null if every safe block could be applied. */
  fault: chainFault.nullable(),
  /** Parent of the deployment block; null before the first span. */
  rootHash: blockHash.nullable(),
  /** Chain reads at a parent of the deployment block. They count while `blockHash` equals `rootHash`. */
  reads: z.strictObject({ blockHash, proposers: z.array(proposerChange) }).nullable(),
  /** Null unless parts of a block are missing. */
  parts: spanParts.nullable(),
  forks: count,
  /** Whether only spans of another deployment have arrived. */
  isMismatched: z.boolean(),
});

/** Folded state of the spans. Immutable. */
export interface SpanFoldState extends Inferred<typeof spanFoldScalars> {
  /** States at safe blocks, ascending. Views show the last one. */
  readonly safe: readonly ChainState[];
  /** Older states at blocks of {@link SpanFoldSettings.forkBlocks}, ascending. */
  readonly forkStates: readonly ChainState[];
}

export const emptySpanFoldState: SpanFoldState = {
  head: null,
  safe: [],
  forkStates: [],
  reversible: [],
  unsafe: [],
  fault: null,
  rootHash: null,
  reads: null,
  parts: null,
  forks: 0,
  isMismatched: false,
};

/** A reorganization of the blocks above `forkBlock`. `safeDepth` counts the retained states that it dropped, each at a safe block. */
export interface Reorganization {
  readonly forkBlock: bigint;
  readonly safeDepth: number;
}

export interface SpanFoldSettings {
  readonly chainId: bigint;
  readonly contracts: ContractAddresses;
  /** The first span must begin here, since a state without the first blocks would be wrong. */
  readonly deploymentBlock: bigint;
  /**
   * Blocks above which messages ahead replace everything, deeper than the newest {@link retainedStatesMax} states. Their states are retained, and events
   * of later blocks are not final. Usually empty.
   */
  readonly forkBlocks: ReadonlySet<bigint>;
}

export function toKnownBlock({ number, hash, timestampMs }: KnownBlock): KnownBlock {
  return { number, hash, timestampMs };
}
