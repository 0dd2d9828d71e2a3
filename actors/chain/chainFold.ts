import type { ChainBlock, ChainSpan } from '../../streams/chainSpan.ts';
import { type Rejection, rejected } from '../../streams/decodeMessage.ts';
import { type StoredSpan, withFeedEvent } from '../feed/chainFeed.ts';
import { giveUpOldest, runOf } from '../feed/heldEvents.ts';
import { applyEvent } from './applyEvent.ts';
import { type ChainEvent, type ContractAddresses, createEventDecoder } from './chainEvent.ts';
import { type ChainFeedEvent, type ChainState, emptyChainState, type KnownBlock } from './chainState.ts';
import { isSafelyBelow } from './confirmations.ts';

/** States of safe blocks that are kept, for a reorganization below the newest and for cursors. */
export const keptStatesMax = 600;

/** A known block with what the deployment's contracts logged in it. */
export interface FoldedBlock extends KnownBlock {
  readonly events: readonly ChainEvent[];
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
  /** Known blocks above the newest safe one, ascending. */
  readonly unsafe: readonly FoldedBlock[];
  /** Logs of a block whose other parts have not come yet. */
  readonly parts: { readonly span: ChainSpan; readonly logs: ChainBlock['logs'] } | null;
  readonly forks: number;
  /** Another deployment's spans are in the stream. */
  readonly isMismatched: boolean;
}

export const emptyChainFoldState: ChainFoldState = {
  head: null,
  safe: [],
  reversible: [],
  unsafe: [],
  parts: null,
  forks: 0,
  isMismatched: false,
};

/** Blocks that were given up for others behind a block; `safeDepth` counts those that were safe already. */
export interface Reorganization {
  readonly forkBlock: bigint;
  readonly safeDepth: number;
}

/** What a span did. */
export type SpanOutcome =
  | { readonly rejection: Rejection }
  | {
      readonly state: ChainFoldState;
      readonly reorganization: Reorganization | null;
      /** Events of the feed that are held no more: of blocks that no reorganization of a kept state can reach. */
      readonly givenUp: readonly ChainFeedEvent[];
    };

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
}

export interface ChainFoldSettings {
  readonly chainId: bigint;
  readonly contracts: ContractAddresses;
  /** States from this block on are all kept; null keeps the newest {@link keptStatesMax}. */
  readonly keptFromBlock: bigint | null;
}

/**
 * Folds spans: blocks wait above the safe block, where a reorganization just replaces them, and are applied when they
 * are safe. Pure: the same spans give the same states.
 */
export function createChainFold({ chainId, contracts, keptFromBlock }: ChainFoldSettings): ChainFold {
  const decode = createEventDecoder(contracts);

  function receive(state: ChainFoldState, span: ChainSpan, stored: StoredSpan): SpanOutcome {
    if (span.chainId !== chainId || span.core !== contracts.core) {
      return { state: { ...state, isMismatched: true }, reorganization: null, givenUp: [] };
    }
    const whole = joined(state, span);
    if (whole === null) return { state: withPart(state, span), reorganization: null, givenUp: [] };
    if ('rejection' in whole) return whole;
    const blocks = decoded(whole);
    if (blocks === null) return rejected('malformed', 'a log is not what its contract logs');
    const linked = link({ ...state, parts: null }, whole);
    if ('rejection' in linked) return linked;
    const head = blocks.at(-1) as FoldedBlock;
    const extended = { ...linked.state, head: knownOf(head), unsafe: [...linked.state.unsafe, ...blocks] };
    return { ...settle(extended, stored), reorganization: linked.reorganization };
  }

  /** Null when a log cannot be decoded. */
  function decoded(span: ChainSpan): FoldedBlock[] | null {
    try {
      return span.blocks.map((block) => ({
        ...knownOf(block),
        events: block.logs.map((log) => decode(block, log)).filter((event) => event !== null),
      }));
    } catch {
      return null;
    }
  }

  /** Applies what is safe by now. */
  function settle(
    state: ChainFoldState,
    stored: StoredSpan,
  ): { readonly state: ChainFoldState; readonly givenUp: readonly ChainFeedEvent[] } {
    const { head } = state;
    if (head === null) return { state, givenUp: [] };
    const safeCount = state.unsafe.findLastIndex((block) => isSafelyBelow(block.number, head.number)) + 1;
    if (safeCount === 0) return { state, givenUp: [] };
    const safe = [...state.safe];
    for (const block of state.unsafe.slice(0, safeCount)) {
      const before =
        safe.at(-1) ?? emptyChainState(knownOf(block), runOf(stored.position, stored.storedAtMs));
      let after: ChainState = { ...before, block: knownOf(block) };
      for (const event of block.events) after = withFeedEvent(applyEvent(after, event), event, stored);
      safe.push(after);
    }
    const applied = state.unsafe.slice(0, safeCount).map(({ number }) => number);
    const surplus = Math.max(0, state.reversible.length + applied.length - keptStatesMax);
    const reversible = state.reversible.slice(surplus).concat(applied.slice(-keptStatesMax));
    const shortened = withShorterFeed(kept(safe), reversible, stored.position);
    return {
      state: { ...state, safe: shortened.safe, reversible, unsafe: state.unsafe.slice(safeCount) },
      givenUp: shortened.givenUp,
    };
  }

  function kept(safe: readonly ChainState[]): readonly ChainState[] {
    const first = Math.max(0, safe.length - keptStatesMax);
    if (keptFromBlock === null) return safe.slice(first);
    const needed = safe.findLastIndex(({ block }) => block.number <= keptFromBlock);
    return safe.slice(Math.max(0, Math.min(first, needed)));
  }

  return { receive };
}

/** Gives up old events of the newest state's feed, those that no state lies below which can be gone back to. */
function withShorterFeed(safe: readonly ChainState[], reversible: readonly bigint[], position: number) {
  const newest = safe.at(-1) as ChainState;
  const [oldestKept, oldestReversible] = [(safe[0] as ChainState).block.number, reversible[0] as bigint];
  const shorter = giveUpOldest(
    newest.feed,
    ({ recordedAtMs }) => recordedAtMs,
    ({ source }) => source.blockNumber <= oldestKept && source.blockNumber <= oldestReversible,
    position,
  );
  if (shorter === null) return { safe, givenUp: [] };
  return { safe: [...safe.slice(0, -1), { ...newest, feed: shorter.held }], givenUp: shorter.givenUp };
}

/** Drops what the span replaces, or says why it does not link. */
function link(
  state: ChainFoldState,
  span: ChainSpan,
):
  | { readonly rejection: Rejection }
  | {
      readonly state: ChainFoldState;
      readonly reorganization: Reorganization | null;
    } {
  const { head } = state;
  if (head === null) return { state, reorganization: null };
  const forkBlock = span.fromBlock - 1n;
  if (forkBlock > head.number) {
    return rejected('unlinked_span', `block ${span.fromBlock} does not follow block ${head.number}`);
  }
  if (forkBlock === head.number && span.parentHash === head.hash) return { state, reorganization: null };

  const unsafe = state.unsafe.filter(({ number }) => number <= forkBlock);
  const safe = state.safe.filter(({ block }) => block.number <= forkBlock);
  const fork = unsafe.at(-1) ?? safe.at(-1)?.block;
  const oldest = state.safe[0]?.block ?? state.unsafe[0];
  if (fork === undefined && oldest !== undefined) throw new ForkBelowStates(forkBlock, oldest.number);
  if (fork?.number !== forkBlock || fork.hash !== span.parentHash) {
    return rejected(
      'unlinked_span',
      `block ${span.fromBlock} names parent ${span.parentHash}, block ${forkBlock} is held as ${fork?.hash ?? 'unknown'}`,
    );
  }
  if (span.toBlock <= head.number && span.fork <= state.forks) {
    return rejected(
      'unlinked_span',
      `blocks through ${span.toBlock} are held already, through ${head.number}`,
    );
  }
  return {
    state: {
      ...state,
      safe,
      reversible: state.reversible.filter((number) => number <= forkBlock),
      unsafe,
      head: knownOf(fork),
      forks: Math.max(state.forks, span.fork),
    },
    reorganization: { forkBlock, safeDepth: state.safe.length - safe.length },
  };
}

/** The whole block once its last part is there; null while parts are missing. */
function joined(state: ChainFoldState, span: ChainSpan): ChainSpan | null | { rejection: Rejection } {
  const { part } = span;
  if (part === null) return span;
  const [block] = span.blocks as [ChainBlock];
  const isNext = part.index === 0 || isNextPart(state.parts?.span ?? null, span);
  if (!isNext)
    return rejected('unlinked_span', `part ${part.index} of block ${span.toBlock} has no part before it`);
  if (part.index < part.count - 1) return null;
  const logs = [...(state.parts?.logs ?? []), ...block.logs];
  return { ...span, part: null, blocks: [{ ...block, logs }] };
}

function isNextPart(held: ChainSpan | null, span: ChainSpan): boolean {
  return (
    held?.part !== null &&
    held?.blocks[0]?.hash === span.blocks[0]?.hash &&
    held?.part.index === (span.part?.index ?? 0) - 1
  );
}

function withPart(state: ChainFoldState, span: ChainSpan): ChainFoldState {
  const before = span.part?.index === 0 ? [] : (state.parts?.logs ?? []);
  return { ...state, parts: { span, logs: [...before, ...(span.blocks[0] as ChainBlock).logs] } };
}

function knownOf({ number, hash, timestampMs }: KnownBlock): KnownBlock {
  return { number, hash, timestampMs };
}
