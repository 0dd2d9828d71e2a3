import { dayMs, hourMs, sum, toIso } from './messages.ts';
import { type Economy, projectCheckpoint } from './mining.ts';
import type { CoreState } from './readCore.ts';
import { type ChainEvent, listEvents, type SafeChain, showChain, toPlaceOfRecord } from './safeChain.ts';
import { blockUnitsPerBlock, max } from './workToBlocks.ts';

/** CONTRACT.md, Settlement history and Next mint round. */

interface HistoryInput {
  readonly safe: SafeChain;
  readonly core: CoreState;
  /** Null while issuance is unknown. */
  readonly economy: Economy | null;
  readonly nowMs: number;
}

interface Checkpoint {
  readonly afterRound: bigint;
  readonly throughRound: bigint;
  readonly completedBlockCount: bigint;
  readonly cumulativeWork: bigint;
  readonly cumulativeBlockUnits: bigint;
  readonly eligibleWeight: bigint;
  readonly amount: bigint;
  readonly totalMinted: bigint;
}

/** A span of time, its start included and its end not. */
interface Span {
  readonly startMs: number;
  readonly endMs: number;
}

const ranges = {
  '24h': { bucketMs: hourMs, count: 24, endsAtEach: hourMs, from: 0 },
  '7d': { bucketMs: 6 * hourMs, count: 28, endsAtEach: dayMs, from: 12 * hourMs },
  '30d': { bucketMs: dayMs, count: 30, endsAtEach: dayMs, from: 12 * hourMs },
};

export type Range = 'now' | keyof typeof ranges;

function findWindow(range: Exclude<Range, 'now'>, nowMs: number): Span {
  const { bucketMs, count, endsAtEach, from } = ranges[range];
  const endMs = (Math.floor((nowMs - from) / endsAtEach) + 1) * endsAtEach + from;
  return { startMs: endMs - bucketMs * count, endMs };
}

/** A settled batch, with the work blocks that it completed. */
interface Settled {
  readonly event: CoreState['batches'][number];
  readonly heightBefore: bigint;
  readonly height: bigint;
}

export function measureHistory(input: HistoryInput, range: Range) {
  const { safe, core, economy, nowMs } = input;
  const isIn =
    ({ startMs, endMs }: Span) =>
    ({ place }: ChainEvent) =>
      place.blockTimestampMs >= startMs && place.blockTimestampMs < endMs;
  const always: Span = { startMs: Number.NEGATIVE_INFINITY, endMs: Number.POSITIVE_INFINITY };
  const window = range === 'now' ? null : findWindow(range, nowMs);
  const settled = core.batches.map((event, index): Settled => {
    const before = core.batches[index - 1]?.args.cumulativeBlockUnits ?? 0n;
    const { cumulativeBlockUnits } = event.args;
    return {
      event,
      heightBefore: before / blockUnitsPerBlock,
      height: cumulativeBlockUnits / blockUnitsPerBlock,
    };
  });
  const checkpoints = listEvents<Checkpoint>(safe, 'mining', 'Checkpointed');
  const sumUp = (span: Span) => {
    const inSpan = settled.filter(({ event }) => isIn(span)(event));
    return {
      settlementCount: String(inSpan.length),
      activeRoundCount: String(sum(inSpan.map(({ event }) => event.args.activeRoundCount))),
      workAdded: String(sum(inSpan.map(({ event }) => event.args.workAdded))),
      completedBlockCount: String(sum(inSpan.map(({ height, heightBefore }) => height - heightBefore))),
    };
  };
  const sumMinted = (span: Span) =>
    String(sum(checkpoints.filter(isIn(span)).map(({ args }) => args.amount)));
  const bucketMs = range === 'now' ? 0 : ranges[range].bucketMs;
  const buckets = Array.from({ length: range === 'now' ? 0 : ranges[range].count }, (_, index): Span => {
    const startMs = (window as Span).startMs + index * bucketMs;
    return { startMs, endMs: startMs + bucketMs };
  });
  const previous =
    window === null ? null : { startMs: 2 * window.startMs - window.endMs, endMs: window.startMs };
  return {
    status: 'available',
    generatedAt: toIso(nowMs),
    chain: showChain(safe),
    window: window && {
      startAt: toIso(window.startMs),
      endAt: toIso(window.endMs),
      bucketSeconds: bucketMs / 1000,
    },
    summary: { ...sumUp(window ?? always), archivedSettlementCount: String(settled.length) },
    recentSettlements: settled
      .filter(({ event, height, heightBefore }) => isIn(window ?? always)(event) && height > heightBefore)
      .slice(-10)
      .reverse()
      .map((one) => showSettlement(one, economy)),
    buckets: buckets.map((span) => ({
      startAt: toIso(span.startMs),
      endAt: toIso(span.endMs),
      ...sumUp(span),
      // Amounts of issuance are left out unless it is known.
      sqkMintedBaseUnits: economy === null ? undefined : sumMinted(span),
    })),
    mining:
      economy === null
        ? { status: 'unavailable' }
        : measureMining(input, economy, checkpoints.filter(isIn(window ?? always))),
    previousPeriod:
      economy === null || previous === null
        ? undefined
        : {
            startAt: toIso(previous.startMs),
            endAt: toIso(previous.endMs),
            sqkMintedBaseUnits: sumMinted(previous),
          },
    recentRounds:
      window !== null
        ? undefined
        : economy?.mintedRounds
            .slice(-42)
            .reverse()
            .map(({ roundId, amount }) => ({
              roundId: String(roundId),
              endAt: toIso(findRoundStart(core, roundId + 1n)),
              sqkMintedBaseUnits: String(amount),
            })),
  };
}

const findRoundStart = ({ configuration: { genesisTimestamp, roundDuration } }: CoreState, round: bigint) =>
  Number(genesisTimestamp + (round - 1n) * roundDuration) * 1000;

function showSettlement({ event: { args, place }, heightBefore, height }: Settled, economy: Economy | null) {
  const minted = economy?.mintedRounds.filter(
    ({ roundId }) => roundId > args.previousSettledThroughRound && roundId <= args.settledThroughRound,
  );
  const isProcessed = economy !== null && economy.processedThroughRound >= args.settledThroughRound;
  return {
    previousSettledThroughRound: String(args.previousSettledThroughRound),
    settledThroughRound: String(args.settledThroughRound),
    activeRoundCount: String(args.activeRoundCount),
    workAdded: String(args.workAdded),
    cumulativeWork: String(args.cumulativeWork),
    cumulativeBlockUnits: String(args.cumulativeBlockUnits),
    firstCompletedBlock: String(heightBefore + 1n),
    lastCompletedBlock: String(height),
    completedBlockCount: String(height - heightBefore),
    blockHeight: String(height),
    ...toPlaceOfRecord(place),
    sqkMintedBaseUnits: isProcessed ? String(sum((minted ?? []).map(({ amount }) => amount))) : undefined,
  };
}

function measureMining(
  { safe, core }: HistoryInput,
  economy: Economy,
  checkpoints: readonly (ChainEvent & { readonly args: Checkpoint })[],
) {
  const { configuration, processedThroughRound } = economy;
  const next = projectCheckpoint(safe, economy, core);
  const round = processedThroughRound + 1n;
  return {
    status: 'available',
    economy: { decimals: economy.decimals },
    rewardPerBlock: String(configuration.rewardPerBlock),
    supplyCap: String(configuration.supplyCap),
    totalMintedBaseUnits: String(economy.totalMinted),
    unmintedCapacityBaseUnits: String(configuration.supplyCap - economy.totalMinted),
    processedThroughRound: String(processedThroughRound),
    rangeMintedBaseUnits: String(sum(checkpoints.map(({ args }) => args.amount))),
    rangeCheckpointCount: String(checkpoints.length),
    nextRound: {
      state: core.settledThroughRound >= round ? 'ready' : 'accruing',
      round: String(round),
      countedThroughRound: String(max(core.settledThroughRound, processedThroughRound)),
      startsAt: toIso(findRoundStart(core, round)),
      endsAt: toIso(findRoundStart(core, round + 1n)),
      previousCumulativeBlockUnits: String(next.previousCumulativeBlockUnits),
      cumulativeBlockUnits: String(core.cumulativeBlockUnits),
      completedBlockCount: String(next.completedBlockCount),
      eligibleWeight: String(next.eligibleWeight),
      amountBaseUnits: String(next.amount),
    },
    recentCheckpoints: checkpoints
      .slice(-12)
      .reverse()
      .map(({ args, place }) => ({
        afterRound: String(args.afterRound),
        throughRound: String(args.throughRound),
        completedBlockCount: String(args.completedBlockCount),
        cumulativeWork: String(args.cumulativeWork),
        cumulativeBlockUnits: String(args.cumulativeBlockUnits),
        eligibleWeight: String(args.eligibleWeight),
        amountBaseUnits: String(args.amount),
        totalMintedBaseUnits: String(args.totalMinted),
        ...toPlaceOfRecord(place),
      })),
  };
}
