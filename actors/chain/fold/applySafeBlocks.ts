import { requireValue } from '../../../machines/requireValue.ts';
import type { ChainFeedEvent } from '../../events/eventSchemas.ts';
import { evictOldest } from '../../events/eventWindow.ts';
import { readErrorMessage } from '../../readErrorMessage.ts';
import { applyEvent } from '../handlers/applyEvent.ts';
import { addFeedEvent, type StoredSpan } from '../handlers/chainFeed.ts';
import { type FinalActivity, makeActivityFinal } from '../rows/activityRows.ts';
import type { ContractAddresses } from '../spans/chainEvent.ts';
import { latestChanges, type ProposerChange } from '../spans/chainReads.ts';
import { isSafelyBelow } from '../spans/confirmations.ts';
import { type ChainState, emptyChainState, type KnownBlock } from '../state/chainState.ts';
import { withProposers } from '../state/coreState.ts';
import { evictOldSettlements } from './evictSettlements.ts';
import {
  type ChainFault,
  type FoldedBlock,
  retainedStatesMax,
  type SpanFoldSettings,
  type SpanFoldState,
  toKnownBlock,
} from './spanFoldState.ts';

export interface AppliedBlocks {
  /** Events that the feed evicted from memory, of final blocks only. */
  readonly evicted: readonly ChainFeedEvent[];
  /** Activity of owners that no reorganization of a retained state can reach any more. Each entry comes once. */
  readonly final: readonly FinalActivity[];
}

export const nothingApplied: AppliedBlocks = { evicted: [], final: [] };

/** Applies the blocks that have become safe, one by one. A block that cannot be applied changes nothing. */
export function applySafeBlocks(
  state: SpanFoldState,
  { contracts, forkBlocks }: SpanFoldSettings,
  stored: StoredSpan,
): AppliedBlocks & { readonly state: SpanFoldState } {
  const { head } = state;
  if (head === null) return { state, ...nothingApplied };
  if (state.fault !== null) {
    return { state: { ...state, unsafe: dropEvents(state.unsafe) }, ...nothingApplied };
  }
  const safeCount = state.unsafe.findLastIndex((block) => isSafelyBelow(block.number, head.number)) + 1;
  const safe = [...state.safe];
  let fault: ChainFault | null = null;
  for (const block of state.unsafe.slice(0, safeCount)) {
    const before = safe.at(-1) ?? createFirstState(state, block);
    const after = applyBlock(before, block, { contracts, stored });
    if ('detail' in after) {
      fault = after;
      break;
    }
    safe.push(after);
  }
  const appliedCount = safe.length - state.safe.length;
  const waiting = state.unsafe.slice(appliedCount);
  const rest = { ...state, fault, unsafe: fault === null ? waiting : dropEvents(waiting) };
  if (appliedCount === 0) return { state: rest, ...nothingApplied };
  const applied = state.unsafe.slice(0, appliedCount).map(({ number }) => number);
  const surplus = Math.max(0, state.reversible.length + applied.length - retainedStatesMax);
  const reversible = state.reversible.slice(surplus).concat(applied.slice(-retainedStatesMax));
  const first = Math.max(0, safe.length - retainedStatesMax);
  const retained = safe.slice(first);
  const forkStates = [...state.forkStates, ...safe.slice(0, first)].filter(({ block }) =>
    forkBlocks.has(block.number),
  );
  const finalBlock = findFinalBlock(retained, reversible, forkBlocks);
  const shortened = evictOldEvents(requireValue(retained.at(-1), 'a safe state'), finalBlock, stored);
  const afterBlock = state.safe.at(-1)?.block.number ?? -1n;
  const { state: newest, final } = makeActivityFinal(shortened.state, finalBlock, afterBlock);
  return {
    state: { ...rest, safe: [...retained.slice(0, -1), evictOldSettlements(newest)], forkStates, reversible },
    evicted: shortened.evicted,
    final,
  };
}

/** The state before the first block, which holds only the chain reads. */
function createFirstState({ reads, rootHash }: SpanFoldState, block: KnownBlock): ChainState {
  const empty = emptyChainState(toKnownBlock(block));
  return reads !== null && reads.blockHash === rootHash ? withReads(empty, reads.proposers) : empty;
}

/** Adds chain reads. They count as older than all logs, even if they arrive later. */
export function withReads(state: ChainState, read: readonly ProposerChange[]): ChainState {
  const proposers = latestChanges([...read, ...state.governance.proposers]);
  return { ...state, governance: withProposers(state.governance, proposers) };
}

/** The state after a block, or why its events cannot follow the previous state. */
function applyBlock(
  before: ChainState,
  block: FoldedBlock,
  { contracts, stored }: { readonly contracts: ContractAddresses; readonly stored: StoredSpan },
): ChainState | ChainFault {
  if (block.problem !== null) return { block: toKnownBlock(block), detail: block.problem };
  const { position } = stored;
  let after: ChainState = { ...before, block: toKnownBlock(block), position };
  for (const event of block.events) {
    try {
      after = addFeedEvent(after, applyEvent(after, event, contracts), event, stored);
    } catch (error) {
      const { transactionHash, logIndex } = event.source;
      const which = `${event.contract}.${event.name} (log ${logIndex}, transaction ${transactionHash})`;
      return { block: toKnownBlock(block), detail: `${which}: ${readErrorMessage(error)}` };
    }
  }
  return after;
}

/** Removes the events of blocks behind a fault. A span that replaces the faulty block replaces these blocks too. */
function dropEvents(blocks: readonly FoldedBlock[]): readonly FoldedBlock[] {
  return blocks
    .slice(-retainedStatesMax)
    .map((block) => (block.events.length === 0 ? block : { ...block, events: [] }));
}

/** The newest final block: every state that the fold may go back to includes it and all blocks below it. */
function findFinalBlock(
  safe: readonly ChainState[],
  reversible: readonly bigint[],
  forkBlocks: ReadonlySet<bigint>,
): bigint {
  const oldest = requireValue(safe[0], 'the oldest safe state');
  const first = requireValue(reversible[0], 'the first reversible block');
  const [least] = [oldest.block.number, first, ...forkBlocks].sort((a, b) => (a < b ? -1 : 1));
  return requireValue(least, 'the least bound');
}

function evictOldEvents(newest: ChainState, finalBlock: bigint, { position }: StoredSpan) {
  const shorter = evictOldest(newest.feed, {
    recordedAtMs: (event) => event.recordedAtMs,
    canEvict: ({ source }) => source.blockNumber <= finalBlock,
    position,
  });
  if (shorter === null) return { state: newest, evicted: [] };
  return { state: { ...newest, feed: shorter.window }, evicted: shorter.evicted };
}
