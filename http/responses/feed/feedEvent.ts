import { z } from 'zod';
import type { ChainFeedEvent } from '../../../actors/events/eventSchemas.ts';
import type { FeedItem } from '../../../actors/feed/feedItem.ts';
import type { FeedPage } from '../../../actors/views/feed/feedViews.ts';
import { measurementPolicyVersion, streakDistanceMm } from '../../../actors/wheel/measurementEvents.ts';
import { address, asset, availableMembers, eventSourceMembers, versionId } from '../chain/chain.ts';
import { type Encoded, encodeView, toIsoString } from '../encodeView.ts';
import { closed, decimal, installationId, positiveDecimal, timestamp, uuid } from '../scalars.ts';

const utcDate = z.iso.date();

/** The block's time is already the event's `occurredAt`. */
const { blockTimestamp: _occurredAt, ...place } = eventSourceMembers;

const chainSource = z
  .strictObject({
    kind: z.literal('chain').describe('The event happened on the chain'),
    chainId: decimal.describe('ID of the chain (EIP-155)'),
    target: availableMembers.chain.shape.target,
    releaseId: availableMembers.release.shape.id,
    contractAddress: address.describe('Contract that emitted the event'),
    ...place,
    confirmationStatus: z.literal('safe').describe('The block has 12 confirmations'),
  })
  .meta({ ...closed, id: 'ChainEventSource' });

const measurementSource = z
  .strictObject({
    kind: z.literal('measurement').describe('The wheel’s readings reached a threshold'),
    installationId: installationId.describe('The installation of the reading'),
    receiptCursor: decimal.describe('Position of the reading in the order of receipt'),
    telemetryId: uuid.describe('ID of the first reading that reached the threshold'),
    observedAt: timestamp.describe('When the device took that reading, by its own clock'),
    receivedAt: timestamp.describe('When the gateway received that reading'),
    policyVersion: versionId.describe('Version of the rules for measurement events'),
    disposition: z.literal('accepted').describe('The reading was accepted'),
  })
  .meta({ ...closed, id: 'MeasurementEventSource' });

const envelope = {
  id: z.string().min(1).max(512).describe('Permanent ID of the event'),
  occurredAt: timestamp.describe('Time of the block, or of the reading by the device’s clock'),
  recordedAt: timestamp.describe('When the event became known; the feed is ordered by this time'),
};

/** Creates a function that defines the event types of one family. They differ only in their payloads. */
function defineFamily<Version extends number, Source extends z.ZodType>(
  eventVersion: Version,
  source: Source,
) {
  return <Type extends string, Payload extends z.ZodRawShape>(type: Type, payload: Payload) => {
    const name = nameEvent(type);
    return z
      .strictObject({
        ...envelope,
        type: z.literal(type).describe('Type of the event'),
        eventVersion: z.literal(eventVersion).describe('Version of the shape of this event family'),
        source: source.describe('Origin of the event'),
        payload: z
          .strictObject(payload)
          .meta({ ...closed, id: `${name}Payload`, description: 'Data of the event' }),
      })
      .meta({ ...closed, id: `${name}Event` });
  };
}

/** `SettlementCompleted` for `system.settlement_completed`. */
function nameEvent(type: string): string {
  return type
    .slice(type.indexOf('.') + 1)
    .replace(/(?:^|_)([a-z])/g, (_, letter: string) => letter.toUpperCase());
}

const chainEvent = defineFamily(2, chainSource);

const measurementEvent = defineFamily(1, measurementSource);

const tokenId = positiveDecimal;

/** The reward token. In events it has no further members either. */
const rewardToken = z
  .strictObject(asset.shape)
  .meta({ ...closed, id: 'EventAsset', description: 'The reward token' });

export const settlementEvent = chainEvent('system.settlement_completed', {
  previousSettledThroughRound: decimal.describe('Last round that was settled before it'),
  settledThroughRound: decimal.describe('Last round that it settled'),
  activeRoundCount: decimal.describe('Number of its rounds with work'),
  workAdded: decimal.describe('Work that it settled, in work units'),
  completedBlockCount: decimal.describe('Number of work blocks that it completed'),
  firstCompletedBlock: decimal
    .nullable()
    .describe('First work block that it completed; null if it completed none'),
  lastCompletedBlock: decimal
    .nullable()
    .describe('Last work block that it completed; null if it completed none'),
  cumulativeWork: decimal.describe('All settled work through it, in work units'),
  blockHeight: decimal.describe('Number of work blocks completed through it'),
  cumulativeBlockUnits: decimal.describe(
    'All settled block units through it; a work block has 1,000,000,000',
  ),
});

export const checkpointEvent = chainEvent('system.mining_checkpointed', {
  afterRound: decimal.describe('Last round of the previous checkpoint'),
  throughRound: decimal.describe('Last round that it processed'),
  completedBlockCount: decimal.describe('Number of work blocks that its rounds completed'),
  cumulativeWork: decimal.describe('All settled work through its last round, in work units'),
  amountBaseUnits: decimal.describe('Reward token that it minted, in base units'),
  asset: rewardToken,
  cumulativeBlockUnits: decimal.describe('All settled block units through its last round'),
});

/** Every type (CONTRACT.md, Event types); `measurement.rpm_record` is never returned. */
export const feedEvent = z
  .discriminatedUnion('type', [
    settlementEvent,
    checkpointEvent,
    chainEvent('player.miner_minted', {
      owner: address.describe('Owner of the new token'),
      tokenId: tokenId.describe('ID of the token'),
      weight: decimal.describe('Mining power of the token from `firstRound` on'),
      nextMergeBlock: decimal.describe('Work block from which it can be merged'),
      firstRound: decimal.describe('Round from which it earns'),
    }),
    chainEvent('player.miners_merged', {
      owner: address.describe('Owner of the tokens'),
      survivorTokenId: tokenId.describe('Token that remains'),
      donorTokenId: tokenId.describe('Token that was merged into it'),
      level: z.int().min(2).max(10).describe('New level of the remaining token'),
      nextMergeBlock: decimal.describe('Work block from which it can be merged again'),
      effectiveRound: decimal.describe('Round in which its new weight takes effect'),
    }),
    chainEvent('player.rewards_claimed', {
      owner: address.describe('Owner who claimed'),
      tokenIds: z.array(tokenId).min(1).max(32).describe('Tokens whose rewards were claimed'),
      amountBaseUnits: decimal.describe('Reward that was paid, in base units'),
      asset: rewardToken,
    }),
    measurementEvent('measurement.distance_milestone', {
      thresholdDistanceMm: decimal.describe('Distance of the milestone, in millimetres'),
      observedLifetimeDistanceMm: decimal.describe('Distance since the first reading, in millimetres'),
    }),
    measurementEvent('measurement.daily_distance_milestone', {
      thresholdDistanceMm: decimal.describe('Distance of the milestone, in millimetres'),
      observedDayDistanceMm: decimal.describe('Distance of the day, in millimetres'),
      utcDate: utcDate.describe('Date of the noon UTC at which the day began'),
    }),
    measurementEvent('measurement.speed_milestone', {
      thresholdSpeedMmPerSecond: decimal.describe('Speed of the milestone, in millimetres per second'),
      observedSpeedMmPerSecond: decimal.describe('Speed of the reading, in millimetres per second'),
    }),
    measurementEvent('measurement.speed_record', {
      previousRecordMmPerSecond: decimal
        .nullable()
        .describe('Previous record, in millimetres per second; null for the first record'),
      recordMmPerSecond: decimal.describe('The new record, in millimetres per second'),
      observedSpeedMmPerSecond: decimal.describe('Speed of the reading, in millimetres per second'),
    }),
    measurementEvent('measurement.rpm_record', {
      previousRecordRpmMilli: decimal
        .nullable()
        .describe('Previous record, in thousandths of revolutions per minute; null for the first record'),
      recordRpmMilli: decimal.describe('The new record, in thousandths of revolutions per minute'),
      observedRpmMilli: decimal.describe('Rotation of the reading, in thousandths of revolutions per minute'),
    }),
    measurementEvent('measurement.distance_streak', {
      days: z.int().min(2).max(3_650).describe('Number of consecutive days that reached the distance'),
      minimumDailyDistanceMm: decimal.describe('The daily distance to reach, in millimetres'),
      endingUtcDate: utcDate.describe('Date of the noon UTC at which the last day began'),
    }),
  ])
  .meta({ id: 'FeedEvent' });

type EventBody = z.infer<typeof feedEvent>;

type FeedContext = Pick<FeedPage, 'asset' | 'chain' | 'release'>;

/** @param shown what an event of the chain is shown with; null is enough for other events. */
export function toFeedEventBody({ id, event, recordedAtMs }: FeedItem, shown: FeedContext | null): EventBody {
  const recordedAt = toIsoString(recordedAtMs);
  if (event.family === 'chain') {
    if (shown === null) throw new Error('an event of the chain needs its context');
    const { blockTimestamp: occurredAt, ...at } = encodeView(event.source);
    const { chain, release } = shown;
    const source = {
      kind: 'chain' as const,
      chainId: chain.chainId.toString(),
      target: chain.target,
      releaseId: release.id,
      contractAddress: event.address,
      ...at,
      confirmationStatus: 'safe' as const,
    };
    return { id, occurredAt, recordedAt, eventVersion: 2, source, ...toChainPayload(event, shown) };
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
      const { workPerThousandBlocksBefore: _, workPerThousandBlocksAfter: __, ...shown } = details;
      return splitDetails(shown);
    }
    case 'system.mining_checkpointed':
      return splitDetails({ ...details, asset: token });
    case 'player.miner_minted':
      return splitDetails(details);
    case 'player.miners_merged': {
      const { type, owner, level, ...rest } = details;
      return { type, payload: { owner, level, ...encodeView(rest) } };
    }
    case 'player.rewards_claimed':
      return splitDetails({ ...details, asset: token });
  }
}

function splitDetails<Details extends { readonly type: string }>({
  type,
  ...members
}: Details): { readonly type: Details['type']; readonly payload: Encoded<Omit<Details, 'type'>> } {
  return { type, payload: encodeView(members) };
}

function toMeasurementPayload(achievement: Exclude<FeedItem['event'], ChainFeedEvent>['achievement']) {
  if (achievement.type === 'measurement.distance_streak') {
    const { type, days, endingUtcDate } = achievement;
    return { type, payload: { days, minimumDailyDistanceMm: String(streakDistanceMm), endingUtcDate } };
  }
  const observed = String(achievement.observed);
  switch (achievement.type) {
    case 'measurement.distance_milestone': {
      const { type, threshold } = achievement;
      return {
        type,
        payload: { thresholdDistanceMm: String(threshold), observedLifetimeDistanceMm: observed },
      };
    }
    case 'measurement.daily_distance_milestone': {
      const { type, threshold, utcDate: date } = achievement;
      const payload = { thresholdDistanceMm: String(threshold), observedDayDistanceMm: observed };
      return { type, payload: { ...payload, utcDate: date } };
    }
    case 'measurement.speed_milestone': {
      const { type, threshold } = achievement;
      return {
        type,
        payload: { thresholdSpeedMmPerSecond: String(threshold), observedSpeedMmPerSecond: observed },
      };
    }
    case 'measurement.speed_record': {
      const { type, previous } = achievement;
      const previousRecordMmPerSecond = previous === null ? null : String(previous);
      const record = { recordMmPerSecond: observed, observedSpeedMmPerSecond: observed };
      return { type, payload: { previousRecordMmPerSecond, ...record } };
    }
  }
}
