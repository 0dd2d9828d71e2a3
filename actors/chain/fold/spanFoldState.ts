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

/** States of safe blocks that are retained, for a reorganization below the newest and for cursors. */
export const retainedStatesMax = 600;

/** A known block with what the deployment's contracts logged in it. */
const foldedBlock = knownBlock.extend({
  events: z.array(chainEvent),
  /** Why a log of the block does not belong to the contract that emitted it; null if all logs do. */
  problem: z.string().nullable(),
});
export type FoldedBlock = Inferred<typeof foldedBlock>;

/** A block whose events cannot follow the state before it. Nothing from it on is applied until another span takes its place. */
const chainFault = z.strictObject({
  block: knownBlock,
  /** Which event, and why it cannot be. */
  detail: z.string(),
});
export type ChainFault = Inferred<typeof chainFault>;

/** Everything that is folded of the spans, without the safe states. */
export const spanFoldScalars = z.strictObject({
  /** Last block of the newest span; null before the first. */
  head: knownBlock.nullable(),
  /**
   * Block numbers of the newest {@link retainedStatesMax} safe states, ascending: of those too that a restored fold does not hold, so
   * that every fold of the stream gives the same events up at the same message.
   */
  reversible: z.array(amount),
  /** Known blocks above the newest safe one, ascending; from a fault on without their events, and at most {@link retainedStatesMax}. */
  unsafe: z.array(foldedBlock),
  /** Null while every safe block could be applied. */
  fault: chainFault.nullable(),
  /** Parent of the deployment block; null before the first span. */
  rootHash: blockHash.nullable(),
  /** What was read at a parent of the deployment block; it counts while that is `rootHash`. */
  reads: z.strictObject({ blockHash, proposers: z.array(proposerChange) }).nullable(),
  /** Null unless parts of a block are missing. */
  parts: spanParts.nullable(),
  forks: count,
  /** Spans of another deployment arrived, and none of this one yet. */
  isMismatched: z.boolean(),
});

/** What is folded of the spans. Immutable. */
export interface SpanFoldState extends Inferred<typeof spanFoldScalars> {
  /** States at safe blocks, ascending; the last one is what views show. */
  readonly safe: readonly ChainState[];
}

export const emptySpanFoldState: SpanFoldState = {
  head: null,
  safe: [],
  reversible: [],
  unsafe: [],
  fault: null,
  rootHash: null,
  reads: null,
  parts: null,
  forks: 0,
  isMismatched: false,
};

/** Blocks that a reorganization replaced, behind a block; `safeDepth` counts those that were safe already. */
export interface Reorganization {
  readonly forkBlock: bigint;
  readonly safeDepth: number;
}

/** What blocks changed of the records of a snapshot; all of them where that is not known. */
export type ChangedRecords = 'all' | readonly ChainState['changed'][];

export interface SpanFoldSettings {
  readonly chainId: bigint;
  readonly contracts: ContractAddresses;
  /** The first span begins here: what a chain that begins later would say is wrong. */
  readonly deploymentBlock: bigint;
  /** States from this block on are all retained, with all their events; null retains the newest {@link retainedStatesMax}. */
  readonly retainedFromBlock: bigint | null;
  /** Events of owners that stay in memory when they are rows; {@link ownerEventsRetained} where it is left out. */
  readonly eventsRetained?: number;
}

export function toKnownBlock({ number, hash, timestampMs }: KnownBlock): KnownBlock {
  return { number, hash, timestampMs };
}
