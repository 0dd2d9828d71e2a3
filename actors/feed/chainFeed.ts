import type { ChainEvent } from '../chain/chainEvent.ts';
import {
  blocksOf,
  type ChainFeedDetails,
  type ChainFeedEvent,
  type ChainState,
} from '../chain/chainState.ts';
import { lower, whole } from '../chain/eventArguments.ts';
import { nextOrdinal } from './arrival.ts';

/** A message of the stream of spans: its sequence, and when it was stored (epoch milliseconds). */
export interface StoredSpan {
  readonly position: number;
  readonly storedAtMs: number;
}

/** The state after an event, with what the feed shows of it. `span` is the one that made it safe. */
export function withFeedEvent(state: ChainState, event: ChainEvent, span: StoredSpan): ChainState {
  const details = detailsOf[`${event.contract}.${event.name}`]?.(state, event.args);
  if (details === undefined) return state;
  const { address, source } = event;
  const { position, storedAtMs: recordedAtMs } = span;
  const ordinal = nextOrdinal(state.feed.events.last(), position);
  const told: ChainFeedEvent = { family: 'chain', details, address, source, recordedAtMs, position, ordinal };
  return { ...state, feed: { ...state.feed, events: state.feed.events.push(told) } };
}

/** By the event that they are of, from the state right after it. */
const detailsOf: Readonly<
  Record<string, (state: ChainState, args: ChainEvent['args']) => ChainFeedDetails | undefined>
> = {
  'core.BatchSettled': ({ settlements }) => {
    const settlement = settlements.last();
    if (settlement === undefined) return undefined;
    const { cumulativeBlockUnits, previousCumulativeBlockUnits } = settlement;
    const blockHeight = blocksOf(cumulativeBlockUnits);
    const heightBefore = blocksOf(previousCumulativeBlockUnits);
    const hasCompleted = blockHeight > heightBefore;
    return {
      type: 'system.settlement_completed',
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
  },
  'mining.Checkpointed': ({ checkpoints }) => {
    const checkpoint = checkpoints.last();
    if (checkpoint === undefined) return undefined;
    return {
      type: 'system.mining_checkpointed',
      afterRound: checkpoint.afterRound,
      throughRound: checkpoint.throughRound,
      completedBlockCount: checkpoint.completedBlockCount,
      cumulativeWork: checkpoint.cumulativeWork,
      amountBaseUnits: checkpoint.amountBaseUnits,
      cumulativeBlockUnits: checkpoint.cumulativeBlockUnits,
    };
  },
  'mining.PositionMinted': (_state, args) => ({
    type: 'player.miner_minted',
    owner: lower(args.owner),
    tokenId: whole(args.tokenId),
    weight: whole(args.weight),
    nextMergeBlock: whole(args.nextMergeBlock),
    firstRound: whole(args.firstRound),
  }),
  'mining.PositionsMerged': (_state, args) => ({
    type: 'player.miners_merged',
    owner: lower(args.owner),
    survivorTokenId: whole(args.survivorTokenId),
    donorTokenId: whole(args.donorTokenId),
    level: args.level as number,
    nextMergeBlock: whole(args.nextMergeBlock),
    effectiveRound: whole(args.effectiveRound),
  }),
  'mining.RewardsClaimed': (_state, args) => ({
    type: 'player.rewards_claimed',
    owner: lower(args.owner),
    tokenIds: args.tokenIds as readonly bigint[],
    amountBaseUnits: whole(args.amount),
  }),
};
