import type { ChainFeedDetails, ChainFeedEvent } from '../../events/eventSchemas.ts';
import type { ChainEvent } from '../spans/chainEvent.ts';
import { countWholeBlocks } from '../state/blockUnits.ts';
import type { ChainState } from '../state/chainState.ts';
import type { Checkpoint, Settlement } from '../state/settlements.ts';

/** Sequence of a span's message, and when the stream stored it (epoch milliseconds). */
export interface StoredSpan {
  readonly position: number;
  readonly storedAtMs: number;
}

/**
 * Adds an event to the feed, if the feed shows it.
 *
 * @param before the state before the event.
 * @param state the state right after it.
 * @param span the span that made it safe.
 */
export function addFeedEvent(
  before: ChainState,
  state: ChainState,
  event: ChainEvent,
  span: StoredSpan,
): ChainState {
  const details = describeEvent(before, state, event);
  if (details === null) return state;
  const { address, source } = event;
  const { position, storedAtMs: recordedAtMs } = span;
  const last = state.feed.events.last();
  const ordinal = last?.position === position ? last.ordinal + 1 : 0;
  const shown: ChainFeedEvent = {
    family: 'chain',
    details,
    address,
    source,
    recordedAtMs,
    position,
    ordinal,
  };
  return { ...state, feed: { ...state.feed, events: state.feed.events.push(shown) } };
}

/** The feed's details of an event; null for an event that the feed does not show. */
function describeEvent(before: ChainState, state: ChainState, event: ChainEvent): ChainFeedDetails | null {
  if (event.contract === 'core' && event.name === 'BatchSettled')
    return {
      ...describeSettlement(expectLast(state.settlements.last())),
      workPerThousandBlocksBefore: before.core.workPerThousandBlocks,
      workPerThousandBlocksAfter: event.args.workPerThousandBlocks,
    };
  if (event.contract !== 'mining') return null;
  switch (event.name) {
    case 'Checkpointed':
      return describeCheckpoint(expectLast(state.checkpoints.last()));
    case 'PositionMinted':
      return { type: 'player.miner_minted', ...event.args };
    case 'PositionsMerged':
      return { type: 'player.miners_merged', ...event.args };
    case 'RewardsClaimed': {
      const { owner, tokenIds, amount } = event.args;
      return { type: 'player.rewards_claimed', owner, tokenIds, amountBaseUnits: amount };
    }
    default:
      return null;
  }
}

function expectLast<Entry>(last: Entry | undefined): Entry {
  if (last === undefined) throw new Error('the state does not hold what its event has just added');
  return last;
}

function describeSettlement(settlement: Settlement) {
  const { cumulativeBlockUnits, previousCumulativeBlockUnits } = settlement;
  const blockHeight = countWholeBlocks(cumulativeBlockUnits);
  const heightBefore = countWholeBlocks(previousCumulativeBlockUnits);
  const hasCompleted = blockHeight > heightBefore;
  return {
    type: 'system.settlement_completed' as const,
    previousSettledThroughRound: settlement.previousSettledThroughRound,
    settledThroughRound: settlement.settledThroughRound,
    activeRoundCount: settlement.activeRoundCount,
    workAdded: settlement.workAdded,
    completedBlockCount: blockHeight - heightBefore,
    firstCompletedBlock: hasCompleted ? heightBefore + 1n : null,
    lastCompletedBlock: hasCompleted ? blockHeight : null,
    cumulativeWork: settlement.cumulativeWork,
    blockHeight,
    cumulativeBlockUnits,
  };
}

function describeCheckpoint(checkpoint: Checkpoint): ChainFeedDetails {
  return {
    type: 'system.mining_checkpointed',
    afterRound: checkpoint.afterRound,
    throughRound: checkpoint.throughRound,
    completedBlockCount: checkpoint.completedBlockCount,
    cumulativeWork: checkpoint.cumulativeWork,
    amountBaseUnits: checkpoint.amountBaseUnits,
    cumulativeBlockUnits: checkpoint.cumulativeBlockUnits,
  };
}
