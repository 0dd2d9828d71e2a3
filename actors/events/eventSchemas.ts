import { z } from 'zod';
import type { Inferred } from '../../machines/inferred.ts';
import { amount, count, milliseconds } from '../schemas/stateScalars.ts';
import { address, blockHash, transactionHash } from '../schemas/wireScalars.ts';
import { arrival } from './arrival.ts';

/**
 * Events of the feed, as folds, snapshots and rows hold them. This is the only list of their types. The prefix of a type's name
 * decides its category.
 */

export const eventSource = z.strictObject({
  blockNumber: amount,
  blockHash,
  blockTimestampMs: milliseconds,
  transactionHash,
  transactionIndex: count,
  logIndex: count,
});
export type EventSource = Inferred<typeof eventSource>;

const chainDetails = z.discriminatedUnion('type', [
  z.strictObject({
    type: z.literal('system.settlement_completed'),
    previousSettledThroughRound: amount,
    settledThroughRound: amount,
    activeRoundCount: amount,
    workAdded: amount,
    completedBlockCount: amount,
    /** Both bounds are null if no block was completed. */
    firstCompletedBlock: amount.nullable(),
    lastCompletedBlock: amount.nullable(),
    cumulativeWork: amount,
    blockHeight: amount,
    cumulativeBlockUnits: amount,
    /** Difficulty with which it was settled, and difficulty of the next batch. */
    workPerThousandBlocksBefore: amount,
    workPerThousandBlocksAfter: amount,
  }),
  z.strictObject({
    type: z.literal('system.mining_checkpointed'),
    afterRound: amount,
    throughRound: amount,
    completedBlockCount: amount,
    cumulativeWork: amount,
    amountBaseUnits: amount,
    cumulativeBlockUnits: amount,
  }),
  z.strictObject({
    type: z.literal('player.miner_minted'),
    owner: address,
    tokenId: amount,
    weight: amount,
    nextMergeBlock: amount,
    firstRound: amount,
  }),
  z.strictObject({
    type: z.literal('player.miners_merged'),
    owner: address,
    survivorTokenId: amount,
    donorTokenId: amount,
    level: count,
    nextMergeBlock: amount,
    effectiveRound: amount,
  }),
  z.strictObject({
    type: z.literal('player.rewards_claimed'),
    owner: address,
    tokenIds: z.array(amount),
    amountBaseUnits: amount,
  }),
]);

export const chainFeedEvent = arrival.extend({
  family: z.literal('chain'),
  details: chainDetails,
  address,
  source: eventSource,
  /** When the stream stored the span that made the event safe. */
  recordedAtMs: milliseconds,
});
export type ChainFeedDetails = Inferred<typeof chainDetails>;
export type ChainFeedEvent = Inferred<typeof chainFeedEvent>;

/** An achievement of a reading. Distances are in millimetres, speeds in millimetres per second. */
const achievement = z.discriminatedUnion('type', [
  z.strictObject({
    type: z.literal('measurement.distance_milestone'),
    threshold: amount,
    observed: amount,
  }),
  z.strictObject({
    type: z.literal('measurement.daily_distance_milestone'),
    threshold: count,
    observed: count,
    utcDate: z.string(),
  }),
  z.strictObject({ type: z.literal('measurement.speed_milestone'), threshold: count, observed: count }),
  z.strictObject({
    type: z.literal('measurement.speed_record'),
    previous: count.nullable(),
    observed: count,
  }),
  z.strictObject({
    type: z.literal('measurement.distance_streak'),
    days: count,
    endingUtcDate: z.string(),
  }),
]);

/** An event with its reading. Both have the same position. */
export const measurementEvent = arrival.extend({
  family: z.literal('measurement'),
  achievement,
  installationId: z.string(),
  telemetryId: z.string(),
  observedAtMs: milliseconds,
  receivedAtMs: milliseconds,
  /** When the stream stored the reading, which may be long after the gateway received it. */
  arrivedAtMs: milliseconds,
});
export type Achievement = Inferred<typeof achievement>;
export type MeasurementEvent = Inferred<typeof measurementEvent>;

export const eventTypes = [...chainDetails.options, ...achievement.options].map(
  ({ shape }) => shape.type.value,
);
