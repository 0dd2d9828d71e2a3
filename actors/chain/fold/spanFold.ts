import { requireValue } from '../../../machines/requireValue.ts';
import { type Rejection, reject } from '../../messages/decodeMessage.ts';
import { readErrorMessage } from '../../readErrorMessage.ts';
import type { StoredSpan } from '../handlers/chainFeed.ts';
import type { ChainEvent } from '../spans/chainEvent.ts';
import type { ChainReads } from '../spans/chainReads.ts';
import type { ChainBlock, ChainSpan } from '../spans/chainSpan.ts';
import { createLogDecoder } from '../spans/decodeLog.ts';
import { joinParts } from '../spans/spanParts.ts';
import type { ChainState } from '../state/chainState.ts';
import { type AppliedBlocks, applySafeBlocks, nothingApplied, withReads } from './applySafeBlocks.ts';
import { followLink } from './followLink.ts';
import {
  type FoldedBlock,
  type Reorganization,
  type SpanFoldSettings,
  type SpanFoldState,
  toKnownBlock,
} from './spanFoldState.ts';

type SpanOutcome =
  | { readonly rejection: Rejection; readonly state: SpanFoldState }
  | (AppliedBlocks & { readonly state: SpanFoldState; readonly reorganization: Reorganization | null });

/**
 * Folds spans. Blocks above the safe block wait, where a reorganization simply replaces them, and are applied once they are safe. Pure:
 * the same spans give the same states.
 */
export function createSpanFold(settings: SpanFoldSettings) {
  const { chainId, contracts } = settings;
  const decode = createLogDecoder(contracts);

  /**
   * @param stored where and when the stream stored the span. Events that it makes safe are recorded at that time.
   * @throws ForkBelowStates
   */
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
      return { state: { ...state, parts: joined.parts }, reorganization: null, ...nothingApplied };
    if ('rejection' in joined) return { ...joined, state };
    const { complete } = joined;
    const blocks = complete.blocks.map((block) => decodeBlock(decode, block));
    const linked = followLink({ ...state, parts: null }, complete, settings);
    if ('rejection' in linked) return { ...linked, state };
    const head = requireValue(blocks.at(-1), 'the last block of a span');
    const extended = {
      ...linked.state,
      head: toKnownBlock(head),
      unsafe: [...linked.state.unsafe, ...blocks],
      isMismatched: false,
    };
    const applied = applySafeBlocks(extended, settings, stored);
    return { ...applied, reorganization: linked.reorganization };
  }

  /** Adds chain reads from before the first block. Logs of blocks override them, regardless of the order of arrival. */
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
    const add = (states: readonly ChainState[]) =>
      isOfRoot ? states.map((one) => withReads(one, proposers)) : states;
    const [safe, forkStates] = [add(state.safe), add(state.forkStates)];
    const read = { ...state, safe, forkStates, reads: { blockHash, proposers } };
    return { state: read, reorganization: null, ...nothingApplied };
  }

  return { receive, read };
}

function decodeBlock(decode: ReturnType<typeof createLogDecoder>, block: ChainBlock): FoldedBlock {
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
