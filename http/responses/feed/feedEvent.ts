import { z } from 'zod';
import type { ChainFeedEvent } from '../../../actors/views/chain/chainViewTypes.ts';
import {
  type FeedItem,
  type FeedPage,
  measurementPolicyVersion,
  streakDistanceMm,
} from '../../../actors/views/feed/feedViews.ts';
import {
  address,
  asset,
  availableMembers,
  eventSourceMembers,
  positiveDecimal,
  versionId,
} from '../chain/chain.ts';
import { type Encoded, encodeView } from '../encodeView.ts';
import { toIsoString } from '../isoTime.ts';
import { closed, decimal, installationId, timestamp, uuid } from '../scalars.ts';

const utcDate = z.iso.date();

/** When the block was made is the event's `occurredAt`. */
const { blockTimestamp: _occurredAt, ...place } = eventSourceMembers;

const chainSource = z.strictObject({
  kind: z.literal('chain').describe('It happened on the chain'),
  chainId: decimal.describe('ID of the chain (EIP-155)'),
  target: availableMembers.chain.shape.target.describe('Which kind of chain it is'),
  releaseId: availableMembers.release.shape.id.describe('Names the release of the contracts'),
  contractAddress: address.describe('Contract that emitted it'),
  ...place,
  confirmationStatus: z.literal('safe').describe('The block has 12 confirmations'),
});

const measurementSource = z.strictObject({
  kind: z.literal('measurement').describe('The wheel reached it'),
  installationId: installationId.describe('The installation of the reading'),
  receiptCursor: decimal.describe('Place of the reading in the order of receipt'),
  telemetryId: uuid.describe('Names the reading that reached it first'),
  observedAt: timestamp.describe('When the device took that reading, by its own clock'),
  receivedAt: timestamp.describe('When the gateway received it'),
  policyVersion: versionId.describe('Version of the rules by which such events are made'),
  disposition: z.literal('accepted').describe('The reading was accepted'),
});

const envelope = {
  id: z.string().min(1).max(512).describe('Names the event, for good'),
  occurredAt: timestamp.describe('Time of the block, or of the reading by the clock of the device'),
  recordedAt: timestamp.describe('When it became known: the order of the feed is by this'),
};

/** The types of one family, which differ in their payloads. */
function defineFamily<Version extends number, Source extends z.ZodType>(
  eventVersion: Version,
  source: Source,
) {
  return <Type extends string, Payload extends z.ZodRawShape>(type: Type, payload: Payload) =>
    z
      .strictObject({
        ...envelope,
        type: z.literal(type).describe('What happened'),
        eventVersion: z.literal(eventVersion).describe('Version of the shape of this family'),
        source: source.describe('Where it is recorded'),
        payload: z.strictObject(payload).meta({ ...closed, description: 'What happened, in figures' }),
      })
      .meta(closed);
}

const chainEvent = defineFamily(2, chainSource);

const measurementEvent = defineFamily(1, measurementSource);

const tokenId = positiveDecimal;

/** Every type (CONTRACT.md, Event types); `measurement.rpm_record` is never returned. */
export const feedEvent = z
  .discriminatedUnion('type', [
    chainEvent('system.settlement_completed', {
      previousSettledThroughRound: decimal.describe('Last round that was settled before it'),
      settledThroughRound: decimal.describe('Last round that it settled'),
      activeRoundCount: decimal.describe('Its rounds with work'),
      workAdded: decimal.describe('Their work, in work units'),
      completedBlockCount: decimal.describe('Work blocks that it completed'),
      firstCompletedBlock: decimal
        .nullable()
        .describe('First work block that it completed; null when it completed none'),
      lastCompletedBlock: decimal.nullable().describe('Last one; null when it completed none'),
      cumulativeWork: decimal.describe('All settled work through it, in work units'),
      blockHeight: decimal.describe('Work blocks completed through it'),
      cumulativeBlockUnits: decimal.describe(
        'All settled block units through it; 1,000,000,000 are one work block',
      ),
    }),
    chainEvent('system.mining_checkpointed', {
      afterRound: decimal.describe('Last round of the checkpoint before it'),
      throughRound: decimal.describe('Last round that it minted for'),
      completedBlockCount: decimal.describe('Work blocks that its rounds completed'),
      cumulativeWork: decimal.describe('All settled work through its last round, in work units'),
      amountBaseUnits: decimal.describe('Reward token that it minted, in base units'),
      asset: asset.describe('The reward token'),
      cumulativeBlockUnits: decimal.describe('All settled block units through its last round'),
    }),
    chainEvent('player.miner_minted', {
      owner: address.describe('Who minted it'),
      tokenId: tokenId.describe('ID of the token'),
      weight: decimal.describe('Mining power that it will have'),
      nextMergeBlock: decimal.describe('Work block from which it can be merged'),
      firstRound: decimal.describe('Round from which it earns'),
    }),
    chainEvent('player.miners_merged', {
      owner: address.describe('Who merged them'),
      survivorTokenId: tokenId.describe('Token that remains'),
      donorTokenId: tokenId.describe('Token that is gone'),
      level: z.int().min(2).max(10).describe('Level of the one that remains'),
      nextMergeBlock: decimal.describe('Work block from which it can be merged again'),
      effectiveRound: decimal.describe('Round from which its new weight counts'),
    }),
    chainEvent('player.rewards_claimed', {
      owner: address.describe('Who claimed'),
      tokenIds: z.array(tokenId).min(1).max(32).describe('Tokens whose rewards were claimed'),
      amountBaseUnits: decimal.describe('Reward that was paid, in base units'),
      asset: asset.describe('The reward token'),
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
        .describe('Record before it, in millimetres per second; null for the first'),
      recordMmPerSecond: decimal.describe('The new record, in millimetres per second'),
      observedSpeedMmPerSecond: decimal.describe('Speed of the reading, in millimetres per second'),
    }),
    measurementEvent('measurement.rpm_record', {
      previousRecordRpmMilli: decimal
        .nullable()
        .describe('Record before it, in thousandths of revolutions per minute; null for the first'),
      recordRpmMilli: decimal.describe('The new record, in thousandths of revolutions per minute'),
      observedRpmMilli: decimal.describe('Of the reading, in thousandths of revolutions per minute'),
    }),
    measurementEvent('measurement.distance_streak', {
      days: z.int().min(2).max(3_650).describe('Days in a row that reached the distance'),
      minimumDailyDistanceMm: decimal.describe('The distance, in millimetres'),
      endingUtcDate: utcDate.describe('Date of the noon UTC at which the last of them began'),
    }),
  ])
  .meta({ id: 'FeedEvent' });

type EventBody = z.infer<typeof feedEvent>;

type FeedContext = Pick<FeedPage, 'asset' | 'chain' | 'release'>;

export function toFeedEventBody({ id, event, recordedAtMs }: FeedItem, context: FeedContext): EventBody {
  const recordedAt = toIsoString(recordedAtMs);
  if (event.family === 'chain') {
    const { blockTimestamp: occurredAt, ...at } = encodeView(event.source);
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
    case 'system.settlement_completed':
      return splitDetails(details);
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
