import { Set as ImmutableSet } from 'immutable';
import type { Hash } from 'viem';
import { formatArrival } from '../feed/arrival.ts';
import { addFeedEvent, type StoredSpan } from '../feed/chainFeed.ts';
import { buildRunId, evictOldest } from '../feed/eventWindow.ts';
import { type Rejection, reject } from '../messages/decodeMessage.ts';
import { requireValue } from '../requireValue.ts';
import { applyEvent } from './applyEvent.ts';
import type { ChainEvent, ContractAddresses } from './chainEvent.ts';
import { type ChainReads, latestChanges, type ProposerChange } from './chainReads.ts';
import { type ChainBlock, type ChainSpan, isAscendingByIndex } from './chainSpan.ts';
import {
  type ChainFeedEvent,
  type ChainState,
  emptyChainState,
  type KnownBlock,
  noteChanged,
  type RecordName,
  withProposers,
} from './chainState.ts';
import { isSafelyBelow } from './confirmations.ts';
import { createLogDecoder } from './decodeLog.ts';
import { type FinalHistory, makeFinal, nothingFinal } from './finalHistory.ts';

/** Version of the folds of `MINER_CHAIN`; see counterFoldVersion. */
export const chainFoldVersion = 6;

/** Version of the rules by which spans make history: what a fold of the same one has stored, and places in its feed, stay good. */
const historyVersion = 4;

/** States of safe blocks that are kept, for a reorganization below the newest and for cursors. */
export const keptStatesMax = 600;

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
export interface ChainFoldState {
  /** Last block of the newest span; null before the first. */
  readonly head: KnownBlock | null;
  /** States at safe blocks, ascending; the last one is what views show. */
  readonly safe: readonly ChainState[];
  /**
   * Block numbers of the newest {@link keptStatesMax} safe states, ascending: of those too that a restored fold does not hold, so
   * that every fold of the stream gives the same events up at the same message.
   */
  readonly reversible: readonly bigint[];
  /** Known blocks above the newest safe one, ascending; from a fault on without their events, and at most {@link keptStatesMax}. */
  readonly unsafe: readonly FoldedBlock[];
  /** Null while every safe block could be applied. */
  readonly fault: ChainFault | null;
  /** Parent of the deployment block; null before the first span. */
  readonly rootHash: Hash | null;
  /** What was read at a parent of the deployment block; it counts while that is {@link rootHash}. */
  readonly reads: Pick<ChainReads, 'blockHash' | 'proposers'> | null;
  /** Logs of a block whose other parts have not come yet. */
  readonly parts: { readonly span: ChainSpan; readonly logs: ChainBlock['logs'] } | null;
  readonly forks: number;
  /** Spans of another deployment arrived, and none of this one yet. */
  readonly isMismatched: boolean;
}

export const emptyChainFoldState: ChainFoldState = {
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
  | { readonly rejection: Rejection; readonly state: ChainFoldState }
  | {
      readonly state: ChainFoldState;
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

  constructor(forkBlock: bigint, oldestKept: bigint) {
    super(
      `the chain was reorganized above block ${forkBlock}, the oldest kept state is that of ${oldestKept}`,
    );
    this.forkBlock = forkBlock;
  }
}

export interface ChainFold {
  /**
   * @param stored where and when the stream stored the span: what it makes safe was recorded then.
   * @throws ForkBelowStates
   */
  receive(state: ChainFoldState, span: ChainSpan, stored: StoredSpan): SpanOutcome;
  /** Takes what was read before the first block, which the logs of later ones override, whenever it arrives. */
  read(state: ChainFoldState, reads: ChainReads): SpanOutcome;
}

export interface ChainFoldSettings {
  readonly chainId: bigint;
  readonly contracts: ContractAddresses;
  /** The first span begins here: what a chain that begins later would say is wrong. */
  readonly deploymentBlock: bigint;
  /** States from this block on are all kept, with all their events; null keeps the newest {@link keptStatesMax}. */
  readonly keptFromBlock: bigint | null;
}

/**
 * Folds spans: blocks wait above the safe block, where a reorganization just replaces them, and are applied when they
 * are safe. Pure: the same spans give the same states.
 */
export function createChainFold(settings: ChainFoldSettings): ChainFold {
  const { chainId, contracts, keptFromBlock } = settings;
  const decode = createLogDecoder(contracts);

  function receive(state: ChainFoldState, span: ChainSpan, stored: StoredSpan): SpanOutcome {
    if (span.chainId !== chainId || span.core !== contracts.core) {
      const detail = `the span is of core ${span.core} on chain ${span.chainId}, the deployment of ${contracts.core} on chain ${chainId}`;
      const isMismatched = state.head === null;
      return {
        ...reject('other_deployment', detail),
        state: isMismatched === state.isMismatched ? state : { ...state, isMismatched },
      };
    }
    const complete = joinParts(state, span);
    if (complete === null) return { state: withPart(state, span), reorganization: null, ...nothingSettled };
    if ('rejection' in complete) return { ...complete, state };
    const blocks = complete.blocks.map(decodeBlock);
    const linked = link({ ...state, parts: null }, complete, settings);
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

  function read(state: ChainFoldState, reads: ChainReads): SpanOutcome {
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
        return { ...toKnownBlock(block), events: [], problem: `${which}: ${describeError(error)}` };
      }
    }
    return { ...toKnownBlock(block), events, problem: null };
  }

  /** Applies what is safe by now, block by block: a block that cannot be applied changes nothing. */
  function settle(state: ChainFoldState, stored: StoredSpan): Settled & { readonly state: ChainFoldState } {
    const { head } = state;
    if (head === null) return { state, ...nothingSettled };
    if (state.fault !== null) {
      return { state: { ...state, unsafe: dropEvents(state.unsafe) }, ...nothingSettled };
    }
    const safeCount = state.unsafe.findLastIndex((block) => isSafelyBelow(block.number, head.number)) + 1;
    const safe = [...state.safe];
    let fault: ChainFault | null = null;
    for (const block of state.unsafe.slice(0, safeCount)) {
      const before = safe.at(-1) ?? firstState(state, block, stored);
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
    const surplus = Math.max(0, state.reversible.length + applied.length - keptStatesMax);
    const reversible = state.reversible.slice(surplus).concat(applied.slice(-keptStatesMax));
    const retained = retainStates(safe);
    const finalBlock = findFinalBlock(retained, reversible, keptFromBlock);
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
    const first = Math.max(0, safe.length - keptStatesMax);
    if (keptFromBlock === null) return safe.slice(first);
    const needed = safe.findLastIndex(({ block }) => block.number <= keptFromBlock);
    return safe.slice(Math.max(0, Math.min(first, needed)));
  }

  return { receive, read };
}

/** Before the first block: nothing but what was read. */
function firstState(
  { reads, rootHash }: ChainFoldState,
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
      return { block: toKnownBlock(block), detail: `${which}: ${describeError(error)}` };
    }
  }
  return after;
}

/** Blocks that are only waited behind: what takes the place of a block that cannot be applied replaces them too. */
function dropEvents(blocks: readonly FoldedBlock[]): readonly FoldedBlock[] {
  return blocks
    .slice(-keptStatesMax)
    .map((block) => (block.events.length === 0 ? block : { ...block, events: [] }));
}

/** The newest block that lies above no state that can be gone back to: it is part of each of them, as are those below. */
function findFinalBlock(
  safe: readonly ChainState[],
  reversible: readonly bigint[],
  keptFromBlock: bigint | null,
): bigint {
  const oldest = requireValue(safe[0], 'the oldest safe state');
  const bounds = [oldest.block.number, requireValue(reversible[0], 'the first reversible block')];
  if (keptFromBlock !== null) bounds.push(keptFromBlock);
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
      readonly state: ChainFoldState;
      readonly reorganization: Reorganization | null;
      readonly changed: ChangedRecords;
    };

/** Drops what the span replaces, or says why it does not link. */
function link(state: ChainFoldState, span: ChainSpan, settings: ChainFoldSettings): Linked {
  const { deploymentBlock, keptFromBlock } = settings;
  const { head } = state;
  if (head === null) {
    if (span.fromBlock === deploymentBlock)
      return { state: { ...state, rootHash: span.parentHash }, reorganization: null, changed: [] };
    return reject(
      'unlinked_span',
      `block ${span.fromBlock} cannot be the first: the deployment begins with block ${deploymentBlock}`,
    );
  }
  const forkBlock = span.fromBlock - 1n;
  if (forkBlock > head.number) {
    return reject('unlinked_span', `block ${span.fromBlock} does not follow block ${head.number}`);
  }
  if (forkBlock === head.number && span.parentHash === head.hash)
    return { state, reorganization: null, changed: [] };
  if (span.toBlock <= head.number && span.fork <= state.forks) {
    return reject('unlinked_span', `blocks through ${span.toBlock} are held already, through ${head.number}`);
  }

  const unsafe = state.unsafe.filter(({ number }) => number <= forkBlock);
  const safe = state.safe.filter(({ block }) => block.number <= forkBlock);
  const fork = unsafe.at(-1) ?? safe.at(-1)?.block;
  const mayBeOlder = keptFromBlock === null || forkBlock < keptFromBlock;
  if (fork === undefined && span.fromBlock === deploymentBlock && span.fork > state.forks) {
    const newest = state.safe.at(-1);
    if (newest !== undefined && hasRows(newest) && mayBeOlder) {
      throw new ForkBelowStates(forkBlock, findOldestBlock(state));
    }
    return {
      state: { ...emptyChainFoldState, rootHash: span.parentHash, reads: state.reads, forks: span.fork },
      reorganization: { forkBlock, safeDepth: state.safe.length },
      changed: 'all',
    };
  }
  if (fork === undefined && span.fromBlock > deploymentBlock && mayBeOlder) {
    throw new ForkBelowStates(forkBlock, findOldestBlock(state));
  }
  if (fork?.number !== forkBlock || fork.hash !== span.parentHash) {
    return reject(
      'unlinked_span',
      `block ${span.fromBlock} names parent ${span.parentHash}, block ${forkBlock} is held as ${fork?.hash ?? 'unknown'}`,
    );
  }
  const isFaultReplaced = state.fault !== null && forkBlock < state.fault.block.number;
  return {
    state: {
      ...state,
      safe,
      reversible: state.reversible.filter((number) => number <= forkBlock),
      unsafe,
      fault: isFaultReplaced ? null : state.fault,
      head: toKnownBlock(fork),
      forks: Math.max(state.forks, span.fork),
    },
    reorganization: { forkBlock, safeDepth: state.safe.length - safe.length },
    changed: state.safe.slice(safe.length).map(({ changed }) => changed),
  };
}

/** The oldest block that can be gone back to, of a state that holds one. */
function findOldestBlock({ safe, unsafe, head }: ChainFoldState): bigint {
  const oldest = safe[0]?.block ?? unsafe[0] ?? head;
  if (oldest === null) throw new Error('nothing is folded yet');
  return oldest.number;
}

/** The whole block once its last part is there; null while parts are missing. */
function joinParts(state: ChainFoldState, span: ChainSpan): ChainSpan | null | { rejection: Rejection } {
  const { part } = span;
  if (part === null) return span;
  const block = partialBlock(span);
  const isNext = part.index === 0 || isNextPart(state.parts?.span ?? null, span);
  if (!isNext)
    return reject('unlinked_span', `part ${part.index} of block ${span.toBlock} has no part before it`);
  if (part.index < part.count - 1) return null;
  const logs = [...(state.parts?.logs ?? []), ...block.logs];
  if (!isAscendingByIndex(logs))
    return reject('malformed', `the parts of block ${span.toBlock} have logs in common`);
  return { ...span, part: null, blocks: [{ ...block, logs }] };
}

function isNextPart(previous: ChainSpan | null, span: ChainSpan): boolean {
  return (
    previous?.part !== null &&
    previous?.blocks[0]?.hash === span.blocks[0]?.hash &&
    previous?.part.index === (span.part?.index ?? 0) - 1
  );
}

function withPart(state: ChainFoldState, span: ChainSpan): ChainFoldState {
  const before = span.part?.index === 0 ? [] : (state.parts?.logs ?? []);
  return { ...state, parts: { span, logs: [...before, ...partialBlock(span).logs] } };
}

/** The one block that a part is of. */
function partialBlock({ blocks }: ChainSpan): ChainBlock {
  return requireValue(blocks[0], 'the block of a part');
}

function describeError(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

function toKnownBlock({ number, hash, timestampMs }: KnownBlock): KnownBlock {
  return { number, hash, timestampMs };
}
