import { z } from 'zod';
import type { SettlementsView } from '../../../actors/views/actorViews.ts';
import { settlementRanges } from '../../../actors/views/chain/settlementHistory.ts';
import type { SettlementHistoryView } from '../../../actors/views/chain/settlementView.ts';
import type { ChainUnavailable } from '../../../actors/views/chain/shownStates.ts';
import { computeRevision } from '../../../actors/views/revision.ts';
import { encodeView, toIsoString } from '../encodeView.ts';
import { processQueue, toProcessQueueBody } from '../process/settlementQueue.ts';
import {
  availableStatus,
  decimal,
  defineObject,
  generatedAt,
  installationId,
  schemaVersion,
  timestamp,
} from '../scalars.ts';
import { chainBrief, defineUnavailable, toChainBriefBody } from './chain.ts';
import { mining, toMiningBody } from './settlementIssuance.ts';
import { settlement, toSettlementBody } from './settlementRecords.ts';

export const settlementRange = z
  .enum(settlementRanges)
  .meta({ id: 'SettlementRange', description: 'Time window; `now` covers all of the history' });

const sums = {
  settlementCount: decimal.describe('Number of settled batches'),
  activeRoundCount: decimal.describe('Number of their rounds with work'),
  workAdded: decimal.describe('Work that they settled, in work units'),
  completedBlockCount: decimal.describe('Number of work blocks that they completed'),
};

const bounds = {
  startAt: timestamp.describe('Start, inclusive'),
  endAt: timestamp.describe('End, exclusive'),
};

const bucket = defineObject('SettlementBucket', {
  ...bounds,
  ...sums,
  sqkMintedBaseUnits: decimal
    .optional()
    .describe('Reward token minted in the bucket, in base units; left out while issuance is unavailable'),
});

const bucketSeconds: z.ZodType<number> = z
  .literal([3_600, 21_600, 86_400])
  .meta({ id: 'BucketSeconds', description: 'An hour, six hours or a day' });

/** Buckets of `now`, `24h`, `7d` and `30d` (CONTRACT.md, Settlement history). */
const buckets = z
  .array(bucket)
  .max(30)
  .refine(({ length }) => [0, 24, 28, 30].includes(length));

const members = {
  installationId: installationId.describe('The public installation'),
  status: availableStatus,
  range: settlementRange.describe('The range of the request'),
  generatedAt,
  chain: chainBrief.describe('The chain, and how far it was read'),
  window: defineObject('SettlementHistoryWindow', {
    ...bounds,
    bucketSeconds: bucketSeconds.describe('Length of a bucket in seconds'),
  })
    .nullable()
    .describe('Time that the range covers; null for `now`, which covers all of the history'),
  summary: defineObject('SettlementHistorySummary', {
    ...sums,
    archivedSettlementCount: decimal.meta({
      description: 'Number of settlements since the deployment, for any range',
    }),
  }).describe('Totals of the window'),
  recentSettlements: z
    .array(settlement)
    .max(10)
    .describe('The newest 10 of the window that completed a work block, newest first'),
  buckets: buckets.describe('Parts of the window, oldest first; zeros if nothing was settled'),
  mining: mining.describe('Issuance for the settled work'),
  recentRounds: z
    .array(
      defineObject('SettlementHistoryRecentRound', {
        roundId: decimal.describe('Number of the round'),
        endAt: timestamp.describe('End of the round'),
        sqkMintedBaseUnits: decimal.describe('Reward token minted for it, in base units'),
      }),
    )
    .max(42)
    .optional()
    .describe('The newest 42 rounds with minted rewards; only for `now`, and if issuance is available'),
  previousPeriod: defineObject('SettlementHistoryPreviousPeriod', {
    ...bounds,
    sqkMintedBaseUnits: decimal.describe('Reward token minted in this period, in base units'),
  })
    .optional()
    .describe('The window before this one; not for `now`, and only if issuance is available'),
};

const withQueue = {
  settlementQueue: processQueue.optional().describe('Rounds that wait for settlement; only with `queue=1`'),
};

export const publicSettlementsResponse = z
  .discriminatedUnion('status', [
    defineObject('PublicSettlementHistoryAvailable', {
      schemaVersion: schemaVersion(4),
      ...members,
      ...withQueue,
    }),
    defineUnavailable(4).extend(withQueue).meta({ id: 'PublicSettlementHistoryUnavailable' }),
  ])
  .meta({
    id: 'PublicSettlementHistory',
    description: 'Settlement history of the public route, with the queue if requested',
  });

export const plainSettlementsResponse = z
  .discriminatedUnion('status', [
    defineObject('SettlementHistoryAvailable', { schemaVersion: schemaVersion(1), ...members }),
    defineUnavailable(1).meta({ id: 'SettlementHistoryUnavailable' }),
  ])
  .meta({
    id: 'SettlementHistory',
    description: 'Settlement history of the plain route',
  });

type View = SettlementHistoryView | ChainUnavailable;

export function toPublicSettlementsBody({
  history,
  queue,
}: SettlementsView): z.infer<typeof publicSettlementsResponse> {
  const settlementQueue = queue === null ? {} : { settlementQueue: toProcessQueueBody(queue) };
  return { schemaVersion: 4, ...buildBody(history), ...settlementQueue };
}

export function toPlainSettlementsBody(view: View): z.infer<typeof plainSettlementsResponse> {
  return { schemaVersion: 1, ...buildBody(view) };
}

/** @returns an opaque digest of the body without `generatedAt`. */
export function computeSettlementsTag(body: object): string {
  return computeRevision({ ...body, generatedAt: null });
}

export function readSettlementSource(view: View): string {
  return view.status === 'unavailable' ? 'unavailable' : view.source;
}

function buildBody(view: View) {
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
    window: encodeView(window),
    summary: encodeView(summary),
    recentSettlements: view.recentSettlements.map((one) => toSettlementBody(one, processed)),
    buckets: view.buckets.map(({ mintedBaseUnits, ...others }) => ({
      ...encodeView(others),
      sqkMintedBaseUnits: mintedBaseUnits?.toString(),
    })),
    mining: toMiningBody(view),
    recentRounds: recentRounds?.map(({ roundId, endAtMs, amountBaseUnits }) =>
      encodeView({ roundId, endAtMs, sqkMintedBaseUnits: amountBaseUnits }),
    ),
    previousPeriod: previousPeriod === null ? undefined : toPeriodBody(previousPeriod),
  };
}

function toPeriodBody({ mintedBaseUnits, ...period }: NonNullable<SettlementHistoryView['previousPeriod']>) {
  return { ...encodeView(period), sqkMintedBaseUnits: mintedBaseUnits.toString() };
}
