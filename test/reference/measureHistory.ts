import { dayMs, hourMs, sum, toIso } from './messages.ts';
import { type Economy, projectCheckpoint } from './mining.ts';
import type { CoreState } from './readCore.ts';
import { type ChainEvent, type EventPlace, listEvents, type SafeChain, showChain } from './safeChain.ts';
import { blockUnitsPerBlock, describeCompleted, max } from './workToBlocks.ts';

/** CONTRACT.md, Settlement history and Next mint round. */

interface HistoryInput {
  readonly safe: SafeChain;
  readonly core: CoreState;
  /** Null while issuance is unknown. */
  readonly economy: Economy | null;
  readonly nowMs: number;
}

interface Checkpoint {
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
      activeRoundCount: sum(inSpan.map(({ event }) => event.args.activeRoundCount)),
      workAdded: sum(inSpan.map(({ event }) => event.args.workAdded)),
      completedBlockCount: sum(inSpan.map(({ height, heightBefore }) => height - heightBefore)),
    };
  };
  const sumMinted = (span: Span) => sum(checkpoints.filter(isIn(span)).map(({ args }) => args.amount));
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
      .map((one) => measureSettlement(one, economy)),
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
              roundId,
              endAt: toIso(findRoundStart(core, roundId + 1n)),
              sqkMintedBaseUnits: amount,
            })),
  };
}

const findRoundStart = ({ configuration: { genesisTimestamp, roundDuration } }: CoreState, round: bigint) =>
  Number(genesisTimestamp + (round - 1n) * roundDuration) * 1000;

/** Both lists name a block of the chain like this, to tell it from a work block. */
const showPlace = ({ blockNumber, ...place }: EventPlace) => ({ ...place, ethereumBlockNumber: blockNumber });

function measureSettlement(
  { event: { args, place }, heightBefore, height }: Settled,
  economy: Economy | null,
) {
  const minted = economy?.mintedRounds.filter(
    ({ roundId }) => roundId > args.previousSettledThroughRound && roundId <= args.settledThroughRound,
  );
  const isProcessed = economy !== null && economy.processedThroughRound >= args.settledThroughRound;
  return {
    ...args,
    ...describeCompleted(height - heightBefore, height),
    blockHeight: height,
    ...showPlace(place),
    sqkMintedBaseUnits: isProcessed ? sum((minted ?? []).map(({ amount }) => amount)) : undefined,
  };
}

function measureMining(
  { safe, core }: HistoryInput,
  economy: Economy,
  checkpoints: readonly (ChainEvent & { readonly args: Checkpoint })[],
) {
  const { configuration, processedThroughRound, decimals, totalMinted } = economy;
  const round = processedThroughRound + 1n;
  return {
    ...configuration,
    status: 'available',
    economy: { decimals },
    totalMintedBaseUnits: totalMinted,
    unmintedCapacityBaseUnits: configuration.supplyCap - totalMinted,
    processedThroughRound,
    rangeMintedBaseUnits: sum(checkpoints.map(({ args }) => args.amount)),
    rangeCheckpointCount: String(checkpoints.length),
    nextRound: {
      ...projectCheckpoint(safe, economy, core),
      state: core.settledThroughRound >= round ? 'ready' : 'accruing',
      round,
      countedThroughRound: max(core.settledThroughRound, processedThroughRound),
      startsAt: toIso(findRoundStart(core, round)),
      endsAt: toIso(findRoundStart(core, round + 1n)),
      cumulativeBlockUnits: core.cumulativeBlockUnits,
    },
    recentCheckpoints: checkpoints
      .slice(-12)
      .reverse()
      .map(({ args, place }) => ({
        ...args,
        amountBaseUnits: args.amount,
        totalMintedBaseUnits: args.totalMinted,
        ...showPlace(place),
      })),
  };
}
