import type { List } from 'immutable';
import type { EventSource } from '../../events/eventSchemas.ts';
import type { StoredBy } from '../../feed/eventRows.ts';
import { dayMs } from '../../schemas/durations.ts';
import type { ChainState } from '../state/chainState.ts';
import {
  type Archive,
  type Checkpoint,
  countCompletedBlocks,
  recentCheckpointsShown,
  recentSettlementsShown,
  type Settlement,
} from '../state/settlements.ts';
import { rowsOfMessage } from './activityRows.ts';

/**
 * How far behind the safe block settlements and checkpoints stay in memory. The longest range and its previous period are 60 days, which
 * may begin up to a day earlier (CONTRACT.md, Settlement history).
 */
export const settlementsRetainedMs = 62 * dayMs;

interface Numbered<Entry> {
  readonly number: number;
  readonly entry: Entry;
}

export interface FinalSettlements {
  readonly settlements: readonly Numbered<Settlement>[];
  readonly checkpoints: readonly Numbered<Checkpoint>[];
}

/**
 * Turns settlements and checkpoints of final blocks into rows, each once and in order. The oldest are evicted once no range shows them
 * and nothing more can be minted for their rounds; their sums stay.
 */
export function makeSettlementsFinal(
  state: ChainState,
  finalBlock: bigint,
): { readonly state: ChainState; readonly final: FinalSettlements } {
  const { archive } = state;
  const settlements = listFinal(state.settlements, archive.settlements, finalBlock);
  const checkpoints = listFinal(state.checkpoints, archive.checkpoints, finalBlock);
  const noted: Archive = {
    settlements: { ...archive.settlements, rowCount: archive.settlements.rowCount + settlements.length },
    checkpoints: { ...archive.checkpoints, rowCount: archive.checkpoints.rowCount + checkpoints.length },
  };
  return {
    state: evictCheckpoints(evictSettlements({ ...state, archive: noted })),
    final: { settlements, checkpoints },
  };
}

function listFinal<Entry extends Settlement | Checkpoint>(
  entries: List<Entry>,
  { count, rowCount }: Archive['checkpoints' | 'settlements'],
  finalBlock: bigint,
): Numbered<Entry>[] {
  const final: Numbered<Entry>[] = [];
  for (let number = rowCount; final.length < rowsOfMessage; number++) {
    const entry = entries.get(number - count);
    if (entry === undefined || entry.source.blockNumber > finalBlock) break;
    final.push({ number, entry });
  }
  return final;
}

function evictSettlements(state: ChainState): ChainState {
  const { settlements, archive } = state;
  const mintedThrough = state.mintedRounds.last()?.roundId ?? 0n;
  const left = takeOld(settlements, archive.settlements, { block: state.block, retainedMin: 1 }).filter(
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
  const left = takeOld(checkpoints, before, { block: state.block, retainedMin: recentCheckpointsShown });
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

/** The oldest entries that are rows and that no range shows. At least `retainedMin` entries stay. */
function takeOld<Entry extends Settlement | Checkpoint>(
  entries: List<Entry>,
  { count, rowCount }: Archive['checkpoints' | 'settlements'],
  { block, retainedMin }: Pick<ChainState, 'block'> & { readonly retainedMin: number },
): Entry[] {
  const endMs = block.timestampMs - settlementsRetainedMs;
  return entries
    .take(Math.max(0, Math.min(rowCount - count, entries.size - retainedMin)))
    .takeWhile(({ source }) => source.blockTimestampMs < endMs)
    .toArray();
}

/** A batch that the core settled in a final block. The amounts minted for its rounds are in the checkpoints. */
export interface SettlementRow extends Omit<Settlement, 'source' | 'mintedBaseUnits'>, EventSource, StoredBy {
  /** Number among all settlements, from 0. */
  readonly settlementNumber: number;
}

export interface CheckpointRow extends Omit<Checkpoint, 'source'>, EventSource, StoredBy {
  /** Number among all checkpoints, from 0. */
  readonly checkpointNumber: number;
}

export function toSettlementRow({ number, entry }: Numbered<Settlement>, origin: StoredBy): SettlementRow {
  const { source, mintedBaseUnits: _, ...members } = entry;
  return { ...members, ...source, ...origin, settlementNumber: number };
}

export function toCheckpointRow({ number, entry }: Numbered<Checkpoint>, origin: StoredBy): CheckpointRow {
  const { source, ...members } = entry;
  return { ...members, ...source, ...origin, checkpointNumber: number };
}
