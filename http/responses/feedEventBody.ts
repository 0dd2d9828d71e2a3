import type { z } from 'zod';
import type { ChainFeedEvent } from '../../actors/views/chain/chainViewTypes.ts';
import {
  type FeedItem,
  type FeedPage,
  measurementPolicyVersion,
  streakDistanceMm,
} from '../../actors/views/feed/feedViews.ts';
import { toEventSourceBody } from './chain.ts';
import type { feedEvent } from './feedEvent.ts';
import { toIsoString } from './isoTime.ts';

type EventBody = z.infer<typeof feedEvent>;

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
      return { type, payload: { ...toDecimals(rest), ...blocks } };
    }
    case 'system.mining_checkpointed': {
      const { type, ...rest } = details;
      return { type, payload: { ...toDecimals(rest), asset: token } };
    }
    case 'player.miner_minted': {
      const { type, owner, ...rest } = details;
      return { type, payload: { owner, ...toDecimals(rest) } };
    }
    case 'player.miners_merged': {
      const { type, owner, level, ...rest } = details;
      return { type, payload: { owner, level, ...toDecimals(rest) } };
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
function toDecimals<Members extends Record<string, bigint>>(
  members: Members,
): { [Key in keyof Members]: string } {
  // Object.fromEntries knows no keys.
  return Object.fromEntries(Object.entries(members).map(([key, value]) => [key, value.toString()])) as {
    [Key in keyof Members]: string;
  };
}
