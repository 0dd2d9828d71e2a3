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
import {
  availableStatus,
  decimal,
  generatedAt,
  installationId,
  schemaVersion,
  timestamp,
  unavailableStatus,
} from './scalars.ts';

const sums = {
  settlementCount: decimal.describe('Settled batches'),
  activeRoundCount: decimal.describe('Rounds with work in them'),
  workAdded: decimal.describe('Their work, in work units'),
  completedBlockCount: decimal.describe('Work blocks that they completed'),
};

const onChain = {
  transactionHash: bytes32.describe('Hash of the transaction'),
  ethereumBlockNumber: decimal.describe('Number of the block of the chain that holds it'),
  blockTimestamp: timestamp.describe('Time of that block'),
  logIndex: z.int().min(0).describe('Place of the event’s log in that block, from 0'),
  confirmationStatus: z.literal('safe').describe('The block has 12 confirmations'),
};

const settlement = z
  .strictObject({
    previousSettledThroughRound: decimal.describe('Last round that was settled before it'),
    settledThroughRound: decimal.describe('Last round that it settled'),
    activeRoundCount: decimal.describe('Its rounds with work'),
    workAdded: decimal.describe('Their work, in work units'),
    cumulativeWork: decimal.describe('All settled work through it, in work units'),
    cumulativeBlockUnits: decimal.describe(
      'All settled block units through it; 1,000,000,000 are one work block',
    ),
    firstCompletedBlock: positiveDecimal.describe('First work block that it completed'),
    lastCompletedBlock: positiveDecimal.describe('Last work block that it completed'),
    completedBlockCount: positiveDecimal.meta({ description: 'One that completed none is not listed' }),
    blockHeight: positiveDecimal.describe('Work blocks completed through it'),
    ...onChain,
    sqkMintedBaseUnits: decimal
      .optional()
      .meta({ description: 'Minted for its rounds; present once all of them are processed' }),
  })
  .meta({ id: 'Settlement' });

const checkpoint = z
  .strictObject({
    afterRound: decimal.describe('Last round of the checkpoint before it'),
    throughRound: decimal.describe('Last round that it minted for'),
    completedBlockCount: decimal.describe('Work blocks that its rounds completed'),
    cumulativeWork: decimal.describe('All settled work through its last round, in work units'),
    cumulativeBlockUnits: decimal.describe('All settled block units through its last round'),
    eligibleWeight: decimal.describe('Weight that shared in it'),
    amountBaseUnits: decimal.describe('Reward token that it minted, in base units'),
    totalMintedBaseUnits: decimal.describe('All reward token that was minted through it, in base units'),
    ...onChain,
  })
  .meta({ id: 'Checkpoint' });

const bucket = z
  .strictObject({
    startAt: timestamp.describe('Its start, which belongs to it'),
    endAt: timestamp.describe('Its end, which does not'),
    ...sums,
    sqkMintedBaseUnits: decimal
      .optional()
      .describe(
        'Reward token that checkpoints minted in it, in base units; left out while issuance is not available',
      ),
  })
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
  status: availableStatus,
  economy: z
    .strictObject({
      releaseId: versionId.describe('Names the release of the contracts'),
      mining: address.describe('Contract that mints and pays rewards'),
      token: address.describe('Contract of the reward token'),
      symbol: tokenSymbol.describe('Ticker of the token'),
      decimals: tokenDecimals.describe('Decimals of the token'),
    })
    .describe('The contracts of the reward'),
  rewardPerBlock: decimal.describe('Reward for a completed work block, in base units'),
  supplyCap: decimal.describe('Most that will ever be minted, in base units'),
  totalMintedBaseUnits: decimal.describe('All that was minted, in base units'),
  unmintedCapacityBaseUnits: decimal.describe('What the cap leaves, in base units'),
  processedThroughRound: decimal.describe('Last round that a checkpoint has minted for'),
  rangeMintedBaseUnits: decimal.describe('Minted in the range, in base units'),
  rangeCheckpointCount: decimal.describe('Checkpoints in the range'),
  nextRound: z
    .strictObject({
      state: z
        .enum(mintRoundStates)
        .describe('`ready` once the next round is settled, `accruing` until then'),
      round: decimal.describe('The first round that no checkpoint has minted for'),
      countedThroughRound: decimal.describe(
        'Last round that the amount counts: the settled frontier, or the last processed round where that is later',
      ),
      startsAt: timestamp.describe('Start of `round`'),
      endsAt: timestamp.describe('End of `round`'),
      previousCumulativeBlockUnits: decimal.describe('All settled block units before `round`'),
      cumulativeBlockUnits: decimal.describe('All settled block units through `countedThroughRound`'),
      completedBlockCount: decimal.describe('Work blocks that a checkpoint would mint for'),
      eligibleWeight: decimal.describe('Weight that would share in it'),
      amountBaseUnits: decimal.describe(
        'What a checkpoint through all settled rounds would mint, in base units; not minted yet',
      ),
    })
    .describe('What a checkpoint through all settled rounds would mint now'),
  recentCheckpoints: z.array(checkpoint).max(12).describe('The newest 12 of the range, newest first'),
});

const mining = z
  .discriminatedUnion('status', [
    miningAvailable,
    z.strictObject({
      status: unavailableStatus,
      reason: z
        .enum(['not_configured', 'not_yet_safe'])
        .describe(
          '`not_configured` without an economy of these contracts, `not_yet_safe` while its deployment is not safe',
        ),
    }),
  ])
  .meta({ id: 'SettlementMining' });

const members = {
  installationId: installationId.describe('The public installation'),
  status: availableStatus,
  range: z.enum(settlementRanges).describe('The range of the request'),
  generatedAt,
  chain: chainBrief.describe('Which chain, and how far it is read'),
  window: z
    .strictObject({
      startAt: timestamp.describe('Its start, which belongs to it'),
      endAt: timestamp.describe('Its end, which does not'),
      bucketSeconds: bucketSeconds.describe('Length of a bucket in seconds'),
    })
    .nullable()
    .describe('What the range covers; null for `now`, which is all of the history'),
  summary: z
    .strictObject({
      ...sums,
      archivedSettlementCount: decimal.meta({
        description: 'Settlements since the deployment, whatever the range',
      }),
    })
    .describe('Sums of the window'),
  recentSettlements: z
    .array(settlement)
    .max(10)
    .describe('The newest 10 of the window that completed a work block, newest first'),
  buckets: buckets.describe('Parts of the window, oldest first; one without settlements has zeros'),
  mining: mining.describe('What was issued for it'),
  recentRounds: z
    .array(
      z.strictObject({
        roundId: decimal.describe('Number of the round'),
        endAt: timestamp.describe('End of the round'),
        sqkMintedBaseUnits: decimal.describe('Reward token minted for it, in base units'),
      }),
    )
    .max(42)
    .optional()
    .describe('For `now` alone: the newest 42 rounds that were minted for'),
  previousPeriod: z
    .strictObject({
      startAt: timestamp.describe('Its start, which belongs to it'),
      endAt: timestamp.describe('Its end, which does not'),
      sqkMintedBaseUnits: decimal.describe('Reward token minted in it, in base units'),
    })
    .optional()
    .describe('For the other ranges, where issuance is available: the window before this one'),
};

function defineResponse<Version extends number>(version: Version) {
  return z.discriminatedUnion('status', [
    z.strictObject({ schemaVersion: schemaVersion(version), ...members }),
    defineUnavailable(version),
  ]);
}

const withQueue = {
  settlementQueue: processQueue.optional().describe('What waits for settlement; with `queue=1` alone'),
};

export const publicSettlementsResponse = z
  .discriminatedUnion('status', [
    z.strictObject({ schemaVersion: schemaVersion(4), ...members, ...withQueue }),
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
