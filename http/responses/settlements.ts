import { createHash } from 'node:crypto';
import { z } from 'zod';
import {
  blockUnitsPerBlock,
  type ChainUnavailable,
  type Checkpoint,
  mintRoundStates,
  type Settlement,
  type SettlementHistoryView,
  type SettlementIssuance,
  type SettlementSums,
  settlementRanges,
} from '../../actors/views/chainViewTypes.ts';
import type { SettlementsView } from '../../actors/views/views.ts';
import {
  address,
  bytes32,
  chainBrief,
  defineUnavailable,
  positiveDecimal,
  toChainBriefBody,
  tokenDecimals,
  tokenSymbol,
  versionId,
} from './chain.ts';
import { toIsoString } from './isoTime.ts';
import { processQueue, toProcessQueueBody } from './process.ts';
import { decimal, installationId, timestamp } from './scalars.ts';

const sums = {
  settlementCount: decimal,
  activeRoundCount: decimal,
  workAdded: decimal,
  completedBlockCount: decimal,
};

const onChain = {
  transactionHash: bytes32,
  ethereumBlockNumber: decimal,
  blockTimestamp: timestamp,
  logIndex: z.int().min(0),
  confirmationStatus: z.literal('safe'),
};

const settlement = z
  .strictObject({
    previousSettledThroughRound: decimal,
    settledThroughRound: decimal,
    activeRoundCount: decimal,
    workAdded: decimal,
    cumulativeWork: decimal,
    cumulativeBlockUnits: decimal,
    firstCompletedBlock: positiveDecimal,
    lastCompletedBlock: positiveDecimal,
    completedBlockCount: positiveDecimal.meta({ description: 'One that completed none is not listed' }),
    blockHeight: positiveDecimal,
    ...onChain,
    sqkMintedBaseUnits: decimal
      .optional()
      .meta({ description: 'Minted for its rounds; present once all of them are processed' }),
  })
  .meta({ id: 'Settlement' });

const checkpoint = z
  .strictObject({
    afterRound: decimal,
    throughRound: decimal,
    completedBlockCount: decimal,
    cumulativeWork: decimal,
    cumulativeBlockUnits: decimal,
    eligibleWeight: decimal,
    amountBaseUnits: decimal,
    totalMintedBaseUnits: decimal,
    ...onChain,
  })
  .meta({ id: 'Checkpoint' });

const bucket = z
  .strictObject({ startAt: timestamp, endAt: timestamp, ...sums, sqkMintedBaseUnits: decimal.optional() })
  .meta({ id: 'SettlementBucket' });

/** Hours, six hours, days. */
const bucketSeconds = z
  .int()
  .refine((seconds) => [3_600, 21_600, 86_400].includes(seconds))
  .meta({ enum: [3_600, 21_600, 86_400] });

/** None for now, 24 hours, 28 times six hours, 30 days (CONTRACT.md, Settlement history). */
const buckets = z.union([
  z.array(bucket).length(0),
  z.array(bucket).length(24),
  z.array(bucket).length(28),
  z.array(bucket).length(30),
]);

const miningAvailable = z.strictObject({
  status: z.literal('available'),
  economy: z.strictObject({
    releaseId: versionId,
    mining: address,
    token: address,
    symbol: tokenSymbol,
    decimals: tokenDecimals,
  }),
  rewardPerBlock: decimal,
  supplyCap: decimal,
  totalMintedBaseUnits: decimal,
  unmintedCapacityBaseUnits: decimal,
  processedThroughRound: decimal,
  rangeMintedBaseUnits: decimal,
  rangeCheckpointCount: decimal,
  nextRound: z.strictObject({
    state: z.enum(mintRoundStates),
    round: decimal,
    countedThroughRound: decimal,
    startsAt: timestamp,
    endsAt: timestamp,
    previousCumulativeBlockUnits: decimal,
    cumulativeBlockUnits: decimal,
    completedBlockCount: decimal,
    eligibleWeight: decimal,
    amountBaseUnits: decimal,
  }),
  recentCheckpoints: z.array(checkpoint).max(12),
});

const mining = z
  .discriminatedUnion('status', [
    miningAvailable,
    z.strictObject({ status: z.literal('unavailable'), reason: z.enum(['not_configured', 'not_yet_safe']) }),
  ])
  .meta({ id: 'SettlementMining' });

const members = {
  installationId,
  status: z.literal('available'),
  range: z.enum(settlementRanges),
  generatedAt: timestamp,
  chain: chainBrief,
  window: z.strictObject({ startAt: timestamp, endAt: timestamp, bucketSeconds }).nullable(),
  summary: z.strictObject({
    ...sums,
    archivedSettlementCount: decimal.meta({
      description: 'Settlements since the deployment, whatever the range',
    }),
  }),
  recentSettlements: z.array(settlement).max(10),
  buckets,
  mining,
  recentRounds: z
    .array(z.strictObject({ roundId: decimal, endAt: timestamp, sqkMintedBaseUnits: decimal }))
    .max(42)
    .optional(),
  previousPeriod: z
    .strictObject({ startAt: timestamp, endAt: timestamp, sqkMintedBaseUnits: decimal })
    .optional(),
};

function defineResponse<Version extends number>(version: Version) {
  return z.discriminatedUnion('status', [
    z.strictObject({ schemaVersion: z.literal(version), ...members }),
    defineUnavailable(version),
  ]);
}

const withQueue = { settlementQueue: processQueue.optional() };

export const publicSettlementsResponse = z
  .discriminatedUnion('status', [
    z.strictObject({ schemaVersion: z.literal(4), ...members, ...withQueue }),
    defineUnavailable(4).extend(withQueue),
  ])
  .meta({
    id: 'PublicSettlementHistory',
    description: 'Settlement history of the public route, with the queue where it is requested',
  });
export const plainSettlementsResponse = defineResponse(1).meta({
  id: 'SettlementHistory',
  description: 'Settlement history of the plain route',
});

type View = SettlementHistoryView | ChainUnavailable;

export function toPublicSettlementsBody({
  history,
  queue,
}: SettlementsView): z.infer<typeof publicSettlementsResponse> {
  const settlementQueue = queue === null ? {} : { settlementQueue: toProcessQueueBody(queue) };
  return { schemaVersion: 4, ...body(history), ...settlementQueue };
}

export function toPlainSettlementsBody(view: View): z.infer<typeof plainSettlementsResponse> {
  return { schemaVersion: 1, ...body(view) };
}

/** An opaque digest of what the history shows; `generatedAt` is not part of it. */
export function computeSettlementsTag(body: object): string {
  const content = JSON.stringify({ ...body, generatedAt: null });
  return createHash('sha256').update(content).digest('base64url').slice(0, 22);
}

export function readSettlementSource(view: View): string {
  return view.status === 'unavailable' ? 'unavailable' : view.source;
}

function body(view: View) {
  if (view.status === 'unavailable') {
    const { installationId: id, reason } = view;
    return { installationId: id, status: 'unavailable' as const, reason };
  }
  const { window, summary, recentRounds, previousPeriod, issuance } = view;
  const processed = typeof issuance === 'string' ? -1n : issuance.processedThroughRound;
  return {
    installationId: view.installationId,
    status: 'available' as const,
    range: view.range,
    generatedAt: toIsoString(view.generatedAtMs),
    chain: toChainBriefBody(view.chain),
    window:
      window === null
        ? null
        : {
            startAt: toIsoString(window.startAtMs),
            endAt: toIsoString(window.endAtMs),
            bucketSeconds: window.bucketSeconds,
          },
    summary: { ...toSumsBody(summary), archivedSettlementCount: summary.archivedSettlementCount.toString() },
    recentSettlements: view.recentSettlements.map((one) => toSettlementBody(one, processed)),
    buckets: view.buckets.map((one) => ({
      startAt: toIsoString(one.startAtMs),
      endAt: toIsoString(one.endAtMs),
      ...toSumsBody(one),
      ...(one.mintedBaseUnits === null ? {} : { sqkMintedBaseUnits: one.mintedBaseUnits.toString() }),
    })),
    mining: toMiningBody(view),
    ...(recentRounds === null
      ? {}
      : {
          recentRounds: recentRounds.map(({ roundId, endAtMs, amountBaseUnits }) => ({
            roundId: roundId.toString(),
            endAt: toIsoString(endAtMs),
            sqkMintedBaseUnits: amountBaseUnits.toString(),
          })),
        }),
    ...(previousPeriod === null
      ? {}
      : {
          previousPeriod: {
            startAt: toIsoString(previousPeriod.startAtMs),
            endAt: toIsoString(previousPeriod.endAtMs),
            sqkMintedBaseUnits: previousPeriod.mintedBaseUnits.toString(),
          },
        }),
  };
}

function toSumsBody({ settlementCount, activeRoundCount, workAdded, completedBlockCount }: SettlementSums) {
  return {
    settlementCount: settlementCount.toString(),
    activeRoundCount: activeRoundCount.toString(),
    workAdded: workAdded.toString(),
    completedBlockCount: completedBlockCount.toString(),
  };
}

function toSettlementBody(record: Settlement, processedThroughRound: bigint): z.infer<typeof settlement> {
  const heightBefore = record.previousCumulativeBlockUnits / blockUnitsPerBlock;
  const blockHeight = record.cumulativeBlockUnits / blockUnitsPerBlock;
  return {
    previousSettledThroughRound: record.previousSettledThroughRound.toString(),
    settledThroughRound: record.settledThroughRound.toString(),
    activeRoundCount: record.activeRoundCount.toString(),
    workAdded: record.workAdded.toString(),
    cumulativeWork: record.cumulativeWork.toString(),
    cumulativeBlockUnits: record.cumulativeBlockUnits.toString(),
    firstCompletedBlock: (heightBefore + 1n).toString(),
    lastCompletedBlock: blockHeight.toString(),
    completedBlockCount: (blockHeight - heightBefore).toString(),
    blockHeight: blockHeight.toString(),
    ...toOnChainBody(record),
    ...(processedThroughRound >= record.settledThroughRound
      ? { sqkMintedBaseUnits: record.mintedBaseUnits.toString() }
      : {}),
  };
}

function toOnChainBody({ source }: Settlement | Checkpoint) {
  return {
    transactionHash: source.transactionHash,
    ethereumBlockNumber: source.blockNumber.toString(),
    blockTimestamp: toIsoString(source.blockTimestampMs),
    logIndex: source.logIndex,
    confirmationStatus: 'safe' as const,
  };
}

function toMiningBody({ issuance, contracts, release }: SettlementHistoryView): z.infer<typeof mining> {
  if (typeof issuance === 'string') return { status: 'unavailable', reason: issuance };
  const { configuration, nextRound, totalMintedBaseUnits } = issuance;
  return {
    status: 'available',
    economy: {
      releaseId: release.id,
      mining: contracts.mining,
      token: contracts.token,
      symbol: issuance.symbol,
      decimals: issuance.decimals,
    },
    rewardPerBlock: configuration.rewardPerBlock.toString(),
    supplyCap: configuration.supplyCap.toString(),
    totalMintedBaseUnits: totalMintedBaseUnits.toString(),
    unmintedCapacityBaseUnits: (configuration.supplyCap - totalMintedBaseUnits).toString(),
    processedThroughRound: issuance.processedThroughRound.toString(),
    rangeMintedBaseUnits: issuance.rangeMintedBaseUnits.toString(),
    rangeCheckpointCount: issuance.rangeCheckpointCount.toString(),
    nextRound: toNextRoundBody(nextRound),
    recentCheckpoints: issuance.recentCheckpoints.map(toCheckpointBody),
  };
}

function toNextRoundBody(
  round: SettlementIssuance['nextRound'],
): z.infer<typeof miningAvailable>['nextRound'] {
  return {
    state: round.state,
    round: round.round.toString(),
    countedThroughRound: round.countedThroughRound.toString(),
    startsAt: toIsoString(round.startsAtMs),
    endsAt: toIsoString(round.endsAtMs),
    previousCumulativeBlockUnits: round.previousCumulativeBlockUnits.toString(),
    cumulativeBlockUnits: round.cumulativeBlockUnits.toString(),
    completedBlockCount: round.completedBlockCount.toString(),
    eligibleWeight: round.eligibleWeight.toString(),
    amountBaseUnits: round.amountBaseUnits.toString(),
  };
}

function toCheckpointBody(record: Checkpoint): z.infer<typeof checkpoint> {
  return {
    afterRound: record.afterRound.toString(),
    throughRound: record.throughRound.toString(),
    completedBlockCount: record.completedBlockCount.toString(),
    cumulativeWork: record.cumulativeWork.toString(),
    cumulativeBlockUnits: record.cumulativeBlockUnits.toString(),
    eligibleWeight: record.eligibleWeight.toString(),
    amountBaseUnits: record.amountBaseUnits.toString(),
    totalMintedBaseUnits: record.totalMintedBaseUnits.toString(),
    ...toOnChainBody(record),
  };
}
