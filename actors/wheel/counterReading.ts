import { z } from 'zod';
import type { Inferred } from '../../machines/inferred.ts';
import { parseTimestampMs } from '../schemas/parseTimestampMs.ts';
import { amount, count, milliseconds } from '../schemas/stateScalars.ts';
import { installationId, safeCount, timestamp, uint256Decimal, uuid } from '../schemas/wireScalars.ts';

export const provenances = ['hardware', 'simulated', 'replay', 'derived'] as const;

export const coreStatuses = ['IDLE', 'ACTIVE', 'COUNTER_FAULT'] as const;

/** Measured values other than the counter, with the same names in messages, snapshots, rows and bodies. */
export const measurements = {
  rpmMilli: safeCount.describe('Thousandths of a revolution per minute'),
  speedMmPerSecond: safeCount.describe('Speed of the rim in millimetres per second'),
  distanceMm: safeCount.describe('Distance of the rim in millimetres'),
};
export type Measurement = keyof typeof measurements;

/** One reading of a wheel's counter as the gateway publishes it on `miner.counter.<installation>` (MESSAGES.md, Counter reading). */
export const counterReadingMessage = z.object({
  telemetryId: uuid,
  installationId,
  bootId: uuid,
  sequence: safeCount,
  observedAt: timestamp,
  receivedAt: timestamp,
  counterEpoch: uuid,
  cumulativeWorkUnits: uint256Decimal,
  provenance: z.enum(provenances),
  softwareVersion: z.string().max(256).nullable(),
  coreStatus: z.enum(coreStatuses),
  ...measurements,
});

export type CounterReadingMessage = z.infer<typeof counterReadingMessage>;

/** A folded reading: times in epoch milliseconds, the counter as a bigint, UUIDs in lower case. */
export const counterReading = counterReadingMessage
  .omit({ observedAt: true, receivedAt: true })
  .extend({
    observedAtMs: milliseconds,
    receivedAtMs: milliseconds,
    cumulativeWorkUnits: amount,
    /** Receipt position: sequence of the reading's message in `MINER_COUNTER`. */
    position: count,
  })
  .strict();
export type CounterReading = Inferred<typeof counterReading>;

/** The reading of a message that fits the schema. Written out so that all readings have one hidden class, which saves memory. */
export function toCounterReading(message: CounterReadingMessage, position: number): CounterReading {
  return {
    telemetryId: message.telemetryId.toLowerCase(),
    installationId: message.installationId,
    bootId: message.bootId.toLowerCase(),
    sequence: message.sequence,
    observedAtMs: parseTimestampMs(message.observedAt),
    receivedAtMs: parseTimestampMs(message.receivedAt),
    counterEpoch: message.counterEpoch.toLowerCase(),
    cumulativeWorkUnits: BigInt(message.cumulativeWorkUnits),
    provenance: message.provenance,
    softwareVersion: message.softwareVersion,
    coreStatus: message.coreStatus,
    rpmMilli: message.rpmMilli,
    speedMmPerSecond: message.speedMmPerSecond,
    distanceMm: message.distanceMm,
    position,
  };
}
