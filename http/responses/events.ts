import { z } from 'zod';
import { listKeys } from '../../actors/schemas/listKeys.ts';
import type { ChainFeedEvent } from '../../actors/views/chainViewTypes.ts';
import {
  type FeedItem,
  type FeedPage,
  type FeedUnavailable,
  feedCategories,
  feedTypes,
  feedUnavailableReasons,
  measurementPolicyVersion,
  streakDistanceMm,
} from '../../actors/views/feedViews.ts';
import {
  address,
  asset,
  availableMembers,
  eventSourceMembers,
  positiveDecimal,
  toAvailableMembers,
  toEventSourceBody,
  versionId,
} from './chain.ts';
import { toIsoString } from './isoTime.ts';
import { cursor } from './observations.ts';
import { decimal, installationId, timestamp, uuid } from './scalars.ts';

const utcDate = z.iso.date();

/** When the block was made is the event's `occurredAt`. */
const { blockTimestamp: _occurredAt, ...place } = eventSourceMembers;

const chainSource = z.strictObject({
  kind: z.literal('chain'),
  chainId: decimal,
  target: availableMembers.chain.shape.target,
  releaseId: availableMembers.release.shape.id,
  contractAddress: address,
  ...place,
  confirmationStatus: z.literal('safe'),
});

const measurementSource = z.strictObject({
  kind: z.literal('measurement'),
  installationId,
  receiptCursor: decimal,
  telemetryId: uuid,
  observedAt: timestamp,
  receivedAt: timestamp,
  policyVersion: versionId,
  disposition: z.literal('accepted'),
});

const envelope = { id: z.string().min(1).max(512), occurredAt: timestamp, recordedAt: timestamp };

/** The types of one family, which differ in their payloads. */
function family<Version extends number, Source extends z.ZodType>(eventVersion: Version, source: Source) {
  return <Type extends string, Payload extends z.ZodRawShape>(type: Type, payload: Payload) =>
    z.strictObject({
      ...envelope,
      type: z.literal(type),
      eventVersion: z.literal(eventVersion),
      source,
      payload: z.strictObject(payload),
    });
}

const chainEvent = family(2, chainSource);
const measurementEvent = family(1, measurementSource);

const tokenId = positiveDecimal;

/** Every type (CONTRACT.md, Event types); `measurement.rpm_record` is never returned. */
export const feedEvent = z
  .discriminatedUnion('type', [
    chainEvent('system.settlement_completed', {
      previousSettledThroughRound: decimal,
      settledThroughRound: decimal,
      activeRoundCount: decimal,
      workAdded: decimal,
      completedBlockCount: decimal,
      firstCompletedBlock: decimal.nullable(),
      lastCompletedBlock: decimal.nullable(),
      cumulativeWork: decimal,
      blockHeight: decimal,
      cumulativeBlockUnits: decimal,
    }),
    chainEvent('system.mining_checkpointed', {
      afterRound: decimal,
      throughRound: decimal,
      completedBlockCount: decimal,
      cumulativeWork: decimal,
      amountBaseUnits: decimal,
      asset,
      cumulativeBlockUnits: decimal,
    }),
    chainEvent('player.miner_minted', {
      owner: address,
      tokenId,
      weight: decimal,
      nextMergeBlock: decimal,
      firstRound: decimal,
    }),
    chainEvent('player.miners_merged', {
      owner: address,
      survivorTokenId: tokenId,
      donorTokenId: tokenId,
      level: z.int().min(2).max(10),
      nextMergeBlock: decimal,
      effectiveRound: decimal,
    }),
    chainEvent('player.rewards_claimed', {
      owner: address,
      tokenIds: z.array(tokenId).min(1).max(32),
      amountBaseUnits: decimal,
      asset,
    }),
    measurementEvent('measurement.distance_milestone', {
      thresholdDistanceMm: decimal,
      observedLifetimeDistanceMm: decimal,
    }),
    measurementEvent('measurement.daily_distance_milestone', {
      thresholdDistanceMm: decimal,
      observedDayDistanceMm: decimal,
      utcDate,
    }),
    measurementEvent('measurement.speed_milestone', {
      thresholdSpeedMmPerSecond: decimal,
      observedSpeedMmPerSecond: decimal,
    }),
    measurementEvent('measurement.speed_record', {
      previousRecordMmPerSecond: decimal.nullable(),
      recordMmPerSecond: decimal,
      observedSpeedMmPerSecond: decimal,
    }),
    measurementEvent('measurement.rpm_record', {
      previousRecordRpmMilli: decimal.nullable(),
      recordRpmMilli: decimal,
      observedRpmMilli: decimal,
    }),
    measurementEvent('measurement.distance_streak', {
      days: z.int().min(2).max(3_650),
      minimumDailyDistanceMm: decimal,
      endingUtcDate: utcDate,
    }),
  ])
  .meta({ id: 'FeedEvent' });

const eventType = z.enum([...listKeys(feedTypes), 'measurement.rpm_record']);

const available = z
  .strictObject({
    schemaVersion: z.literal(1),
    ...availableMembers,
    catalogVersion: z.literal('public-activity-v2'),
    category: z.enum(feedCategories),
    activeEventTypes: z
      .array(eventType)
      .min(1)
      .max(11)
      .refine((types) => new Set(types).size === types.length)
      .meta({ uniqueItems: true }),
    events: z.array(feedEvent).max(100),
    nextCursor: cursor.nullable(),
  })
  .meta({ id: 'EventFeedAvailable' });

const unavailable = z
  .strictObject({
    schemaVersion: z.literal(1),
    installationId,
    status: z.literal('unavailable'),
    reason: z.enum(feedUnavailableReasons),
  })
  .meta({ id: 'EventFeedUnavailable' });

export const eventsResponse = z
  .discriminatedUnion('status', [available, unavailable])
  .meta({ id: 'EventFeed' });

type EventBody = z.infer<typeof feedEvent>;

export function toEventsBody(view: FeedPage | FeedUnavailable): z.infer<typeof eventsResponse> {
  if (view.status === 'unavailable') {
    const { status, reason } = view;
    return { schemaVersion: 1, installationId: view.installationId, status, reason };
  }
  return {
    schemaVersion: 1,
    ...toAvailableMembers(view),
    catalogVersion: 'public-activity-v2',
    category: view.category,
    activeEventTypes: [...view.activeEventTypes],
    events: view.events.map((item) => toFeedEventBody(item, view)),
    nextCursor: view.nextCursor,
  };
}

/** What every event is sent with. */
type FeedContext = Pick<FeedPage, 'asset' | 'chain' | 'release'>;

/** One event as it is sent. */
export function toFeedEventBody({ id, event, recordedAtMs }: FeedItem, context: FeedContext): EventBody {
  const recordedAt = toIsoString(recordedAtMs);
  if (event.family === 'chain') {
    const { blockTimestamp: occurredAt, ...at } = toEventSourceBody(event.source);
    const { chain, release } = context;
    const source = {
      kind: 'chain' as const,
      chainId: chain.chainId.toString(),
      target: chain.target,
      releaseId: release.id,
      contractAddress: event.address,
      ...at,
      confirmationStatus: 'safe' as const,
    };
    return { id, occurredAt, recordedAt, eventVersion: 2, source, ...toChainPayload(event, context) };
  }
  const { achievement, position, telemetryId, observedAtMs, receivedAtMs } = event;
  const source = {
    kind: 'measurement' as const,
    installationId: event.installationId,
    receiptCursor: String(position),
    telemetryId,
    observedAt: toIsoString(observedAtMs),
    receivedAt: toIsoString(receivedAtMs),
    policyVersion: measurementPolicyVersion,
    disposition: 'accepted' as const,
  };
  return {
    id,
    occurredAt: toIsoString(observedAtMs),
    recordedAt,
    eventVersion: 1,
    source,
    ...toMeasurementPayload(achievement),
  };
}

function toChainPayload({ details }: ChainFeedEvent, { asset: token }: FeedContext) {
  switch (details.type) {
    case 'system.settlement_completed': {
      const { type, firstCompletedBlock, lastCompletedBlock, ...rest } = details;
      const blocks = {
        firstCompletedBlock: firstCompletedBlock?.toString() ?? null,
        lastCompletedBlock: lastCompletedBlock?.toString() ?? null,
      };
      return { type, payload: { ...decimals(rest), ...blocks } };
    }
    case 'system.mining_checkpointed': {
      const { type, ...rest } = details;
      return { type, payload: { ...decimals(rest), asset: token } };
    }
    case 'player.miner_minted': {
      const { type, owner, ...rest } = details;
      return { type, payload: { owner, ...decimals(rest) } };
    }
    case 'player.miners_merged': {
      const { type, owner, level, ...rest } = details;
      return { type, payload: { owner, level, ...decimals(rest) } };
    }
    case 'player.rewards_claimed': {
      const { type, owner, tokenIds, amountBaseUnits } = details;
      const payload = {
        owner,
        tokenIds: tokenIds.map(String),
        amountBaseUnits: amountBaseUnits.toString(),
        asset: token,
      };
      return { type, payload };
    }
  }
}

function toMeasurementPayload(achievement: Exclude<FeedItem['event'], ChainFeedEvent>['achievement']) {
  switch (achievement.type) {
    case 'measurement.distance_milestone': {
      const { type, threshold, observed } = achievement;
      return {
        type,
        payload: { thresholdDistanceMm: String(threshold), observedLifetimeDistanceMm: String(observed) },
      };
    }
    case 'measurement.daily_distance_milestone': {
      const { type, threshold, observed, utcDate: date } = achievement;
      const payload = {
        thresholdDistanceMm: String(threshold),
        observedDayDistanceMm: String(observed),
        utcDate: date,
      };
      return { type, payload };
    }
    case 'measurement.speed_milestone': {
      const { type, threshold, observed } = achievement;
      const payload = {
        thresholdSpeedMmPerSecond: String(threshold),
        observedSpeedMmPerSecond: String(observed),
      };
      return { type, payload };
    }
    case 'measurement.speed_record': {
      const { type, previous, observed } = achievement;
      const payload = {
        previousRecordMmPerSecond: previous === null ? null : String(previous),
        recordMmPerSecond: String(observed),
        observedSpeedMmPerSecond: String(observed),
      };
      return { type, payload };
    }
    case 'measurement.distance_streak': {
      const { type, days, endingUtcDate } = achievement;
      return { type, payload: { days, minimumDailyDistanceMm: String(streakDistanceMm), endingUtcDate } };
    }
  }
}

/** Each bigint as a decimal string. */
function decimals<Members extends Record<string, bigint>>(
  members: Members,
): { [Key in keyof Members]: string } {
  // Object.fromEntries knows no keys.
  return Object.fromEntries(Object.entries(members).map(([key, value]) => [key, value.toString()])) as {
    [Key in keyof Members]: string;
  };
}
