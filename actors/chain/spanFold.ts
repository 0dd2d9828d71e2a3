import { Set as ImmutableSet } from 'immutable';
import { requireValue } from '../../machines/requireValue.ts';
import { formatArrival } from '../feed/arrival.ts';
import { addFeedEvent, type StoredSpan } from '../feed/chainFeed.ts';
import { buildRunId, evictOldest } from '../feed/eventWindow.ts';
import { type Rejection, reject } from '../messages/decodeMessage.ts';
import { readErrorMessage } from '../readErrorMessage.ts';
import type { BlockHash } from '../schemas/hex.ts';
import { applyEvent } from './applyEvent.ts';
import type { ChainEvent, ContractAddresses } from './chainEvent.ts';
import type { ChainFeedEvent } from './chainFeedEvent.ts';
import { type ChainReads, latestChanges, type ProposerChange } from './chainReads.ts';
import type { ChainBlock, ChainSpan } from './chainSpan.ts';
import {
  type ChainState,
  emptyChainState,
  type KnownBlock,
  noteChanged,
  type RecordName,
} from './chainState.ts';
import { isSafelyBelow } from './confirmations.ts';
import { withProposers } from './coreState.ts';
import { createLogDecoder } from './decodeLog.ts';
import { type FinalHistory, makeFinal, nothingFinal } from './finalHistory.ts';
import { linkSpan } from './linkSpan.ts';
import { joinParts, type SpanParts } from './spanParts.ts';

/** Version of the folds of `MINER_CHAIN`; see counterFoldVersion. */
export const spanFoldVersion = 6;

/** Version of the rules by which spans make history: what a fold of the same one has stored, and places in its feed, stay good. */
const historyVersion = 4;

/** States of safe blocks that are kept, for a reorganization below the newest and for cursors. */
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

/** What a span did. */
export type SpanOutcome =
  | { readonly rejection: Rejection; readonly state: SpanFoldState }
  | {
      readonly state: SpanFoldState;
      readonly reorganization: Reorganization | null;
      /** Events of the feed that are held no more: of blocks that no reorganization of a kept state can reach. */
      readonly evicted: readonly ChainFeedEvent[];
      /** What no reorganization of a kept state can reach any more, each once. */
      readonly final: FinalHistory;
      /** Of the blocks that were applied, and of those that a reorganization replaced. */
      readonly changed: ChangedRecords;
    };

/** What the blocks that a span made safe did. */
interface Settled extends Pick<Applied, 'evicted' | 'final'> {
  readonly changed: readonly ChainState['changed'][];
}
type Applied = Exclude<SpanOutcome, { readonly rejection: Rejection }>;

const nothingSettled: Settled = { evicted: [], final: nothingFinal, changed: [] };

/** What blocks changed of the records of a snapshot; all of them where that is not known. */
export type ChangedRecords = 'all' | readonly ChainState['changed'][];

/** The fork lies below every state that is kept. */
export class ForkBelowStates extends Error {
  override readonly name = 'ForkBelowStates';
  readonly forkBlock: bigint;

  constructor(forkBlock: bigint, oldestRetained: bigint) {
    super(
      `the chain was reorganized above block ${forkBlock}, the oldest kept state is that of ${oldestRetained}`,
    );
    this.forkBlock = forkBlock;
  }
}

export interface ChainFold {
  /**
   * @param stored where and when the stream stored the span: what it makes safe was recorded then.
   * @throws ForkBelowStates
   */
  receive(state: SpanFoldState, span: ChainSpan, stored: StoredSpan): SpanOutcome;
  /** Takes what was read before the first block, which the logs of later ones override, whenever it arrives. */
  read(state: SpanFoldState, reads: ChainReads): SpanOutcome;
}

export interface ChainFoldSettings {
  readonly chainId: bigint;
  readonly contracts: ContractAddresses;
  /** The first span begins here: what a chain that begins later would say is wrong. */
  readonly deploymentBlock: bigint;
  /** States from this block on are all kept, with all their events; null keeps the newest {@link retainedStatesMax}. */
  readonly retainedFromBlock: bigint | null;
}

/**
 * Folds spans: blocks wait above the safe block, where a reorganization just replaces them, and are applied when they
 * are safe. Pure: the same spans give the same states.
 */
export function createChainFold(settings: ChainFoldSettings): ChainFold {
  const { chainId, contracts, retainedFromBlock } = settings;
  const decode = createLogDecoder(contracts);

  function receive(state: SpanFoldState, span: ChainSpan, stored: StoredSpan): SpanOutcome {
    if (span.chainId !== chainId || span.core !== contracts.core) {
      const detail = `the span is of core ${span.core} on chain ${span.chainId}, the deployment of ${contracts.core} on chain ${chainId}`;
      const isMismatched = state.head === null;
      return {
        ...reject('other_deployment', detail),
        state: isMismatched === state.isMismatched ? state : { ...state, isMismatched },
      };
    }
    const joined = joinParts(state.parts, span);
    if ('parts' in joined)
      return { state: { ...state, parts: joined.parts }, reorganization: null, ...nothingSettled };
    if ('rejection' in joined) return { ...joined, state };
    const { complete } = joined;
    const blocks = complete.blocks.map(decodeBlock);
    const linked = followLink({ ...state, parts: null }, complete, settings);
    if ('rejection' in linked) return { ...linked, state };
    const head = requireValue(blocks.at(-1), 'the last block of a span');
    const extended = {
      ...linked.state,
      head: toKnownBlock(head),
      unsafe: [...linked.state.unsafe, ...blocks],
      isMismatched: false,
    };
    const settled = settle(extended, stored);
    const changed = linked.changed === 'all' ? 'all' : [...linked.changed, ...settled.changed];
    return { ...settled, reorganization: linked.reorganization, changed };
  }

  function read(state: SpanFoldState, reads: ChainReads): SpanOutcome {
    if (reads.chainId !== chainId || reads.core !== contracts.core) {
      return {
        ...reject('other_deployment', `the reads are of core ${reads.core} on chain ${reads.chainId}`),
        state,
      };
    }
    if (reads.blockNumber !== settings.deploymentBlock - 1n) {
      const detail = `the reads are of block ${reads.blockNumber}, the deployment begins with ${settings.deploymentBlock}`;
      return { ...reject('malformed', detail), state };
    }
    const { blockHash, proposers } = reads;
    const isOfRoot = blockHash === state.rootHash;
    const safe = isOfRoot ? state.safe.map((one) => withReads(one, proposers)) : state.safe;
    const read = { ...state, safe, reads: { blockHash, proposers } };
    return { state: read, reorganization: null, ...nothingSettled };
  }

  function decodeBlock(block: ChainBlock): FoldedBlock {
    const events: ChainEvent[] = [];
    for (const log of block.logs) {
      try {
        const event = decode(block, log);
        if (event !== null) events.push(event);
      } catch (error) {
        const which = `log ${log.logIndex}, transaction ${log.transactionHash}, of ${log.address}`;
        return { ...toKnownBlock(block), events: [], problem: `${which}: ${readErrorMessage(error)}` };
      }
    }
    return { ...toKnownBlock(block), events, problem: null };
  }

  /** Applies what is safe by now, block by block: a block that cannot be applied changes nothing. */
  function settle(state: SpanFoldState, stored: StoredSpan): Settled & { readonly state: SpanFoldState } {
    const { head } = state;
    if (head === null) return { state, ...nothingSettled };
    if (state.fault !== null) {
      return { state: { ...state, unsafe: dropEvents(state.unsafe) }, ...nothingSettled };
    }
    const safeCount = state.unsafe.findLastIndex((block) => isSafelyBelow(block.number, head.number)) + 1;
    const safe = [...state.safe];
    let fault: ChainFault | null = null;
    for (const block of state.unsafe.slice(0, safeCount)) {
      const before = safe.at(-1) ?? createFirstState(state, block, stored);
      const after = applyBlock(before, block, contracts, stored);
      if ('detail' in after) {
        fault = after;
        break;
      }
      safe.push(after);
    }
    const appliedCount = safe.length - state.safe.length;
    const waiting = state.unsafe.slice(appliedCount);
    const rest = { ...state, fault, unsafe: fault === null ? waiting : dropEvents(waiting) };
    if (appliedCount === 0) return { state: rest, ...nothingSettled };
    const applied = state.unsafe.slice(0, appliedCount).map(({ number }) => number);
    const surplus = Math.max(0, state.reversible.length + applied.length - retainedStatesMax);
    const reversible = state.reversible.slice(surplus).concat(applied.slice(-retainedStatesMax));
    const retained = retainStates(safe);
    const finalBlock = findFinalBlock(retained, reversible, retainedFromBlock);
    const shortened = evictOldEvents(requireValue(retained.at(-1), 'a safe state'), finalBlock, stored);
    const { state: newest, final } = makeFinal(shortened.state, finalBlock);
    return {
      state: { ...rest, safe: [...retained.slice(0, -1), newest], reversible },
      evicted: shortened.evicted,
      final,
      changed: [...safe.slice(state.safe.length).map(({ changed }) => changed), newest.changed],
    };
  }

  function retainStates(safe: readonly ChainState[]): readonly ChainState[] {
    const first = Math.max(0, safe.length - retainedStatesMax);
    if (retainedFromBlock === null) return safe.slice(first);
    const needed = safe.findLastIndex(({ block }) => block.number <= retainedFromBlock);
    return safe.slice(Math.max(0, Math.min(first, needed)));
  }

  return { receive, read };
}

/** Before the first block: nothing but what was read. */
function createFirstState(
  { reads, rootHash }: SpanFoldState,
  block: KnownBlock,
  { position, storedAtMs }: StoredSpan,
): ChainState {
  const empty = emptyChainState(toKnownBlock(block), `${historyVersion}.${buildRunId(position, storedAtMs)}`);
  return reads !== null && reads.blockHash === rootHash ? withReads(empty, reads.proposers) : empty;
}

/** Reads come before all logs, also where they arrive after some. */
function withReads(state: ChainState, read: readonly ProposerChange[]): ChainState {
  const proposers = latestChanges([...read, ...state.governance.proposers]);
  return { ...state, governance: withProposers(state.governance, proposers) };
}

/** The state after a block, or why its events cannot follow the state before it. */
function applyBlock(
  before: ChainState,
  block: FoldedBlock,
  contracts: ContractAddresses,
  stored: StoredSpan,
): ChainState | ChainFault {
  if (block.problem !== null) return { block: toKnownBlock(block), detail: block.problem };
  const { position } = stored;
  let after: ChainState = { ...before, block: toKnownBlock(block), position, changed: ImmutableSet() };
  for (const event of block.events) {
    try {
      after = addFeedEvent(applyEvent(after, event, contracts), event, stored);
    } catch (error) {
      const { transactionHash, logIndex } = event.source;
      const which = `${event.contract}.${event.name} (log ${logIndex}, transaction ${transactionHash})`;
      return { block: toKnownBlock(block), detail: `${which}: ${readErrorMessage(error)}` };
    }
  }
  return after;
}

/** Blocks that are only waited behind: what takes the place of a block that cannot be applied replaces them too. */
function dropEvents(blocks: readonly FoldedBlock[]): readonly FoldedBlock[] {
  return blocks
    .slice(-retainedStatesMax)
    .map((block) => (block.events.length === 0 ? block : { ...block, events: [] }));
}

/** The newest block that lies above no state that can be gone back to: it is part of each of them, as are those below. */
function findFinalBlock(
  safe: readonly ChainState[],
  reversible: readonly bigint[],
  retainedFromBlock: bigint | null,
): bigint {
  const oldest = requireValue(safe[0], 'the oldest safe state');
  const bounds = [oldest.block.number, requireValue(reversible[0], 'the first reversible block')];
  if (retainedFromBlock !== null) bounds.push(retainedFromBlock);
  const [least] = bounds.sort((a, b) => (a < b ? -1 : 1));
  return requireValue(least, 'the least bound');
}

/** Evicts old events of the newest state's feed, final ones alone. */
function evictOldEvents(newest: ChainState, finalBlock: bigint, { position }: StoredSpan) {
  const shorter = evictOldest(
    newest.feed,
    ({ recordedAtMs }) => recordedAtMs,
    ({ source }) => source.blockNumber <= finalBlock,
    position,
  );
  if (shorter === null) return { state: newest, evicted: [] };
  const names = shorter.evicted.map((event): RecordName => `feedEvent ${formatArrival(event)}`);
  return { state: noteChanged({ ...newest, feed: shorter.window }, ...names), evicted: shorter.evicted };
}

/** Whether anything of a state is in ClickHouse, where it has to be removed when its block is replaced. */
function hasRows({ feed, activity, archive: { settlements, checkpoints } }: ChainState): boolean {
  const hasHistory = settlements.rowCount > 0 || checkpoints.rowCount > 0;
  return feed.evicted.through !== null || activity.rowsThroughBlock !== null || hasHistory;
}

type Linked =
  | { readonly rejection: Rejection }
  | {
      readonly state: SpanFoldState;
      readonly reorganization: Reorganization | null;
      readonly changed: ChangedRecords;
    };

/**
 * Drops what the span replaces, or says why it does not link.
 *
 * @throws ForkBelowStates
 */
function followLink(state: SpanFoldState, span: ChainSpan, settings: ChainFoldSettings): Linked {
  const { deploymentBlock, retainedFromBlock } = settings;
  const { head, forks } = state;
  const newestThrough = (number: bigint) =>
    state.unsafe.findLast((block) => block.number <= number) ??
    state.safe.findLast(({ block }) => block.number <= number)?.block;
  const linked = linkSpan<KnownBlock>(span, { head, forks, deploymentBlock, newestThrough });
  const forkBlock = span.fromBlock - 1n;
  const mayBeOlder = retainedFromBlock === null || forkBlock < retainedFromBlock;
  switch (linked.kind) {
    case 'first':
      return { state: { ...state, rootHash: span.parentHash }, reorganization: null, changed: [] };
    case 'next':
      return { state, reorganization: null, changed: [] };
    case 'restart': {
      const newest = state.safe.at(-1);
      if (newest !== undefined && hasRows(newest) && mayBeOlder)
        throw new ForkBelowStates(forkBlock, findOldestBlock(state));
      return {
        state: { ...emptySpanFoldState, rootHash: span.parentHash, reads: state.reads, forks: span.fork },
        reorganization: { forkBlock, safeDepth: state.safe.length },
        changed: 'all',
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

/** The state without what lies above a block. */
function forkAt(state: SpanFoldState, fork: KnownBlock, spanFork: number): Linked {
  const forkBlock = fork.number;
  const safe = state.safe.filter(({ block }) => block.number <= forkBlock);
  const isFaultReplaced = state.fault !== null && forkBlock < state.fault.block.number;
  return {
    state: {
      ...state,
      safe,
      reversible: state.reversible.filter((number) => number <= forkBlock),
      unsafe: state.unsafe.filter(({ number }) => number <= forkBlock),
      fault: isFaultReplaced ? null : state.fault,
      head: toKnownBlock(fork),
      forks: Math.max(state.forks, spanFork),
    },
    reorganization: { forkBlock, safeDepth: state.safe.length - safe.length },
    changed: state.safe.slice(safe.length).map(({ changed }) => changed),
  };
}

/** The oldest block that can be gone back to, of a state that holds one. */
function findOldestBlock({ safe, unsafe, head }: SpanFoldState): bigint {
  const oldest = safe[0]?.block ?? unsafe[0] ?? head;
  if (oldest === null) throw new Error('nothing is folded yet');
  return oldest.number;
}

function toKnownBlock({ number, hash, timestampMs }: KnownBlock): KnownBlock {
  return { number, hash, timestampMs };
}
