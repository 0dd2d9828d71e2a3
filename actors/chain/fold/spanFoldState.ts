import type { BlockHash } from '../../schemas/hex.ts';
import type { ChainEvent, ContractAddresses } from '../spans/chainEvent.ts';
import type { ChainReads } from '../spans/chainReads.ts';
import type { SpanParts } from '../spans/spanParts.ts';
import type { ChainState, KnownBlock } from '../state/chainState.ts';

/** States of safe blocks that are retained, for a reorganization below the newest and for cursors. */
export const retainedStatesMax = 600;

/** A known block with what the deployment's contracts logged in it. */
export interface FoldedBlock extends KnownBlock {
  readonly events: readonly ChainEvent[];
  /** Why a log of the block is none of its contract; null when each is. */
  readonly problem: string | null;
}

/** A block whose events cannot follow the state before it. Nothing from it on is applied until another span takes its place. */
export interface ChainFault {
  readonly block: KnownBlock;
  /** Which event, and why it cannot be. */
  readonly detail: string;
}

/** What is folded of the spans. Immutable. */
export interface SpanFoldState {
  /** Last block of the newest span; null before the first. */
  readonly head: KnownBlock | null;
  /** States at safe blocks, ascending; the last one is what views show. */
  readonly safe: readonly ChainState[];
  /**
   * Block numbers of the newest {@link retainedStatesMax} safe states, ascending: of those too that a restored fold does not hold, so
   * that every fold of the stream gives the same events up at the same message.
   */
  readonly reversible: readonly bigint[];
  /** Known blocks above the newest safe one, ascending; from a fault on without their events, and at most {@link retainedStatesMax}. */
  readonly unsafe: readonly FoldedBlock[];
  /** Null while every safe block could be applied. */
  readonly fault: ChainFault | null;
  /** Parent of the deployment block; null before the first span. */
  readonly rootHash: BlockHash | null;
  /** What was read at a parent of the deployment block; it counts while that is {@link rootHash}. */
  readonly reads: Pick<ChainReads, 'blockHash' | 'proposers'> | null;
  /** Null unless parts of a block are missing. */
  readonly parts: SpanParts | null;
  readonly forks: number;
  /** Spans of another deployment arrived, and none of this one yet. */
  readonly isMismatched: boolean;
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
