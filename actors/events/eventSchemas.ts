import { z } from 'zod';
import { address, blockHash, transactionHash } from '../schemas/wireScalars.ts';

/** Events of the feed, as snapshots of folds and rows hold them. */

const amount = z.bigint();
const count = z.int().min(0);
const milliseconds = z.int();

export const arrival = z.strictObject({ position: count, ordinal: count });

/** Where an event is on the chain. */
export const eventSource = z.strictObject({
  blockNumber: amount,
  blockHash,
  blockTimestampMs: milliseconds,
  transactionHash,
  transactionIndex: count,
  logIndex: count,
});

const chainDetails = z.discriminatedUnion('type', [
  z.strictObject({
    type: z.literal('system.settlement_completed'),
    previousSettledThroughRound: amount,
    settledThroughRound: amount,
    activeRoundCount: amount,
    workAdded: amount,
    completedBlockCount: amount,
    firstCompletedBlock: amount.nullable(),
    lastCompletedBlock: amount.nullable(),
    cumulativeWork: amount,
    blockHeight: amount,
    cumulativeBlockUnits: amount,
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

/** An event of the feed that was logged on the chain. */
export const chainFeedEvent = arrival.extend({
  family: z.literal('chain'),
  details: chainDetails,
  address,
  source: eventSource,
  recordedAtMs: milliseconds,
});

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

/** An event of the feed that readings have reached. */
export const measurementEvent = arrival.extend({
  family: z.literal('measurement'),
  achievement,
  installationId: z.string(),
  telemetryId: z.string(),
  observedAtMs: milliseconds,
  receivedAtMs: milliseconds,
  arrivedAtMs: milliseconds,
});
