import type { List } from 'immutable';
import { dayMs } from '../../schemas/durations.ts';
import type { ChainState } from '../state/chainState.ts';
import {
  type Checkpoint,
  countCompletedBlocks,
  recentCheckpointsShown,
  recentSettlementsShown,
  type Settlement,
} from '../state/settlements.ts';

/**
 * How far behind the safe block settlements and checkpoints stay in memory. The longest range and its previous period are 60 days, which
 * may begin up to a day earlier (CONTRACT.md, Settlement history).
 */
export const settlementsRetainedMs = 62 * dayMs;

/** Evicts the oldest settlements and checkpoints once no range shows them and nothing more can be minted for their rounds. Their sums stay. */
export function evictOldSettlements(state: ChainState): ChainState {
  return evictCheckpoints(evictSettlements(state));
}

function evictSettlements(state: ChainState): ChainState {
  const { settlements, archive } = state;
  const mintedThrough = state.mintedRounds.last()?.roundId ?? 0n;
  const left = takeOld(settlements, state.block, 1).filter(
    ({ settledThroughRound }) => settledThroughRound <= mintedThrough,
  );
  const last = left.at(-1);
  if (last === undefined) return state;
  const before = archive.settlements;
  const sum = (select: (one: Settlement) => bigint) => left.reduce((total, one) => total + select(one), 0n);
  const completed = left.filter((one) => countCompletedBlocks(one) > 0n);
  const archived = {
    ...before,
    count: before.count + left.length,
    throughMs: last.source.blockTimestampMs,
    activeRoundCount: before.activeRoundCount + sum(({ activeRoundCount }) => activeRoundCount),
    workAdded: before.workAdded + sum(({ workAdded }) => workAdded),
    completedBlockCount: before.completedBlockCount + sum(countCompletedBlocks),
    completed: [...before.completed, ...completed].slice(-recentSettlementsShown),
  };
  return {
    ...state,
    settlements: settlements.skip(left.length),
    archive: { ...archive, settlements: archived },
  };
}

function evictCheckpoints(state: ChainState): ChainState {
  const { checkpoints, archive } = state;
  const before = archive.checkpoints;
  const left = takeOld(checkpoints, state.block, recentCheckpointsShown);
  const last = left.at(-1);
  if (last === undefined) return state;
  const archived = {
    ...before,
    count: before.count + left.length,
    throughMs: last.source.blockTimestampMs,
    amountBaseUnits: left.reduce(
      (total, { amountBaseUnits }) => total + amountBaseUnits,
      before.amountBaseUnits,
    ),
  };
  return {
    ...state,
    checkpoints: checkpoints.skip(left.length),
    archive: { ...archive, checkpoints: archived },
  };
}

/** The oldest entries that no range shows. At least `retainedMin` entries stay. */
function takeOld<Entry extends Settlement | Checkpoint>(
  entries: List<Entry>,
  { timestampMs }: ChainState['block'],
  retainedMin: number,
): Entry[] {
  const endMs = timestampMs - settlementsRetainedMs;
  return entries
    .take(Math.max(0, entries.size - retainedMin))
    .takeWhile(({ source }) => source.blockTimestampMs < endMs)
    .toArray();
}
