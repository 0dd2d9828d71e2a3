import type { List } from 'immutable';
import { countWholeBlocks } from '../../chain/state/blockUnits.ts';
import type { ChainState } from '../../chain/state/chainState.ts';
import {
  type Checkpoint,
  countCompletedBlocks,
  nothingArchived,
  recentCheckpointsShown,
  recentSettlementsShown,
  type Settlement,
} from '../../chain/state/settlements.ts';
import { dayMs, noonMs } from '../../schemas/durations.ts';

export const settlementRanges = ['now', '24h', '7d', '30d'] as const;
export type SettlementRange = (typeof settlementRanges)[number];
export type SettlementWindow = NonNullable<ReturnType<typeof computeSettlementWindow>>;

/** The next round to mint accrues until it is settled. Then it is ready for a checkpoint. */
export const mintRoundStates = ['accruing', 'ready'] as const;
type MintRoundState = (typeof mintRoundStates)[number];

const hourMs = 3_600_000;

const ranges = {
  '24h': { bucketMs: hourMs, count: 24, stepMs: hourMs, offsetMs: 0 },
  '7d': { bucketMs: 6 * hourMs, count: 28, stepMs: dayMs, offsetMs: noonMs },
  '30d': { bucketMs: dayMs, count: 30, stepMs: dayMs, offsetMs: noonMs },
} as const;

export function mapSettlementRanges<Value>(
  create: (range: SettlementRange) => Value,
): Readonly<Record<SettlementRange, Value>> {
  return { now: create('now'), '24h': create('24h'), '7d': create('7d'), '30d': create('30d') };
}

/** `24h` ends at the next full hour, the longer ranges at the next noon. A boundary itself belongs to the next window. */
export function computeSettlementWindow(range: SettlementRange, nowMs: number) {
  if (range === 'now') return null;
  const { bucketMs, count, stepMs, offsetMs } = ranges[range];
  const endAtMs = (Math.floor((nowMs - offsetMs) / stepMs) + 1) * stepMs + offsetMs;
  return { startAtMs: endAtMs - bucketMs * count, endAtMs, bucketSeconds: bucketMs / 1000 };
}

/** @param archived sums of evicted settlements that count too. */
export function sumSettlements(settlements: Iterable<Settlement>, archived = nothingArchived.settlements) {
  let settlementCount = BigInt(archived.count);
  let { activeRoundCount, workAdded, completedBlockCount } = archived;
  for (const settlement of settlements) {
    settlementCount++;
    activeRoundCount += settlement.activeRoundCount;
    workAdded += settlement.workAdded;
    completedBlockCount += countCompletedBlocks(settlement);
  }
  return { settlementCount, activeRoundCount, workAdded, completedBlockCount };
}

/** Whether memory holds all entries from a time on. It may not if this clock is far behind the chain. */
export function isInMemoryFrom({ archive }: ChainState, startAtMs: number): boolean {
  return archive.settlements.throughMs < startAtMs && archive.checkpoints.throughMs < startAtMs;
}

/** Entries with a block time in `[startAtMs, endAtMs)`. Entries are in order of time, so the search stops at the first older one. */
export function selectEntriesWithin<Entry extends Settlement | Checkpoint>(
  entries: List<Entry>,
  startAtMs: number,
  endAtMs: number,
): Entry[] {
  const found: Entry[] = [];
  for (let index = entries.size - 1; index >= 0; index--) {
    const entry = entries.get(index) as Entry;
    const { blockTimestampMs } = entry.source;
    if (blockTimestampMs < startAtMs) break;
    if (blockTimestampMs < endAtMs) found.push(entry);
  }
  return found.reverse();
}

/** The newest settlements that completed a block, within the window if one is given; newest first. */
export function listRecentSettlements(state: ChainState, window: SettlementWindow | null): Settlement[] {
  const found: Settlement[] = [];
  const { settlements, archive } = state;
  for (let index = settlements.size - 1; index >= 0 && found.length < recentSettlementsShown; index--) {
    const settlement = settlements.get(index) as Settlement;
    const { blockTimestampMs } = settlement.source;
    if (window !== null && blockTimestampMs < window.startAtMs) break;
    // A block's time may be ahead of this clock.
    const isWithin = window === null || blockTimestampMs < window.endAtMs;
    if (isWithin && countCompletedBlocks(settlement) > 0n) found.push(settlement);
  }
  const older = window === null ? archive.settlements.completed.toReversed() : [];
  return [...found, ...older].slice(0, recentSettlementsShown);
}

/** @param checkpoints null if issuance is unavailable. */
export function buildBuckets(
  window: SettlementWindow | null,
  settlements: readonly Settlement[],
  checkpoints: readonly Checkpoint[] | null,
) {
  if (window === null) return [];
  const bucketMs = window.bucketSeconds * 1000;
  const count = (window.endAtMs - window.startAtMs) / bucketMs;
  return Array.from({ length: count }, (_, index) => {
    const startAtMs = window.startAtMs + index * bucketMs;
    const endAtMs = startAtMs + bucketMs;
    const isInside = ({ source }: Settlement | Checkpoint) =>
      source.blockTimestampMs >= startAtMs && source.blockTimestampMs < endAtMs;
    return {
      startAtMs,
      endAtMs,
      ...sumSettlements(settlements.filter(isInside)),
      mintedBaseUnits: checkpoints === null ? null : sumMinted(checkpoints.filter(isInside)),
    };
  });
}

export function sumMinted(checkpoints: readonly Checkpoint[]): bigint {
  return checkpoints.reduce((sum, { amountBaseUnits }) => sum + amountBaseUnits, 0n);
}

export function computeRoundStartMs(state: Pick<ChainState, 'core'>, round: bigint): number {
  const { genesisTimestamp = 0n, roundDuration = 600n } = state.core.configuration ?? {};
  return Number(genesisTimestamp + (round - 1n) * roundDuration) * 1000;
}

/** The result of a checkpoint through all settled rounds, by the steps of the mining contract. */
function projectNextMintRound(state: ChainState, rewardPerBlock: bigint, supplyCap: bigint) {
  const { mining, core } = state;
  const round = mining.processedThroughRound + 1n;
  // The next one last. Both they and the rounds are as many as since the last checkpoint, so each is passed once.
  const activations = [...mining.pendingWeight.sortBy((_change, activation) => -BigInt(activation))];
  let eligibleWeight = mining.totalWeight;
  const activateThrough = (roundId: bigint) => {
    while (BigInt(activations.at(-1)?.[0] ?? roundId + 1n) <= roundId)
      eligibleWeight += activations.pop()?.[1] ?? 0n;
  };
  let amountBaseUnits = 0n;
  let throughBlock = mining.closedThroughBlock;
  for (const settled of state.unprocessedRounds) {
    activateThrough(settled.roundId);
    const completed = countWholeBlocks(settled.cumulativeBlockUnits) - throughBlock;
    throughBlock += completed;
    const left = supplyCap - mining.mintedBaseUnits - amountBaseUnits;
    const earned = eligibleWeight > 0n ? completed * rewardPerBlock : 0n;
    amountBaseUnits += earned < left ? earned : left;
  }
  // No checkpoint passes a settled round, so both are equal once every settled round is processed.
  const countedThroughRound = core.settledThroughRound < round ? round - 1n : core.settledThroughRound;
  activateThrough(countedThroughRound < round ? round : countedThroughRound);
  const roundState: MintRoundState = core.settledThroughRound >= round ? 'ready' : 'accruing';
  return {
    state: roundState,
    round,
    countedThroughRound,
    startsAtMs: computeRoundStartMs(state, round),
    endsAtMs: computeRoundStartMs(state, round + 1n),
    previousCumulativeBlockUnits: mining.processedBlockUnits,
    cumulativeBlockUnits: core.cumulativeBlockUnits,
    completedBlockCount: throughBlock - mining.closedThroughBlock,
    eligibleWeight,
    amountBaseUnits,
  };
}

/** @param economyDeploymentBlock before it, issuance is `not_yet_safe`; from it on, a missing economy is `not_configured`. */
export function describeIssuance(
  state: ChainState,
  rangeCheckpoints: readonly Checkpoint[] | null,
  economyDeploymentBlock: bigint,
) {
  const { mining, token, checkpoints, archive, block } = state;
  const { configuration } = mining;
  if (block.number < economyDeploymentBlock) return 'not_yet_safe' as const;
  if (configuration === null || token === null) return 'not_configured' as const;
  const inRange = rangeCheckpoints ?? [...checkpoints];
  const before = rangeCheckpoints === null ? archive.checkpoints : nothingArchived.checkpoints;
  return {
    symbol: token.symbol,
    decimals: token.decimals,
    configuration,
    totalMintedBaseUnits: mining.mintedBaseUnits,
    processedThroughRound: mining.processedThroughRound,
    rangeMintedBaseUnits: before.amountBaseUnits + sumMinted(inRange),
    rangeCheckpointCount: BigInt(before.count + inRange.length),
    nextRound: projectNextMintRound(state, configuration.rewardPerBlock, configuration.supplyCap),
    recentCheckpoints: inRange.slice(-recentCheckpointsShown).reverse(),
  };
}
