import { z } from 'zod';
import type { Inferred } from '../../machines/inferred.ts';
import { listKeys } from '../schemas/listKeys.ts';
import { parseTimestampMs } from '../schemas/parseTimestampMs.ts';
import { amount, count, milliseconds } from '../schemas/stateScalars.ts';
import { installationId, safeCount, timestamp, uint256Decimal, uuid } from '../schemas/wireScalars.ts';
import { withoutDefaults } from '../schemas/withoutDefaults.ts';

export const provenances = ['hardware', 'simulated', 'replay', 'derived'] as const;

export const coreStatuses = ['IDLE', 'ACTIVE', 'COUNTER_FAULT'] as const;

/** A measured value. Messages that are stored already lack a later one, so it has a default. */
type MeasuredValue = typeof safeCount | z.ZodDefault<z.ZodNullable<typeof safeCount>>;
export type MeasuredValues = Readonly<Record<string, MeasuredValue>>;

/** Measured values other than the counter, with the same names in messages, snapshots, rows and bodies. */
export const measurements = {
  rpmMilli: safeCount.describe('Thousandths of a revolution per minute'),
  speedMmPerSecond: safeCount.describe('Speed of the rim in millimetres per second'),
  distanceMm: safeCount.describe('Distance of the rim in millimetres'),
} satisfies MeasuredValues;
export type Measurement = keyof typeof measurements;

/** Computes something for each measured value, in their order. The caller names its type, which depends on the value's schema. */
export function mapMeasurements<Mapped extends Readonly<Record<Measurement, unknown>>>(
  compute: (name: Measurement, schema: MeasuredValue) => unknown,
): Mapped {
  const entries = listKeys(measurements).map((name) => [name, compute(name, measurements[name])] as const);
  return Object.fromEntries(entries) as unknown as Mapped;
}

/** Whether messages may lack a measured value. */
export function isLater(schema: MeasuredValue): boolean {
  return schema instanceof z.ZodDefault;
}

const counterMembers = {
  telemetryId: uuid.describe('The reading, and its `Nats-Msg-Id`'),
  installationId: installationId.describe('The installation in the subject'),
  bootId: uuid.describe('The run of the gateway'),
  sequence: safeCount.describe('Ascends within a boot'),
  observedAt: timestamp.describe('When the device read the counter'),
  receivedAt: timestamp.describe('When the gateway took the reading'),
  counterEpoch: uuid.describe('A period in which the counter never falls'),
  cumulativeWorkUnits: uint256Decimal.describe('The counter, in work units'),
  provenance: z.enum(provenances).describe('Where the reading comes from'),
  softwareVersion: z.string().max(256).nullable().describe('Version of the software of the device'),
  coreStatus: z.enum(coreStatuses).describe('Whether the wheel turns, or its counter has a fault'),
};

/** Defines messages with these measured values. */
export function defineReadingMessage<Measured extends MeasuredValues>(measured: Measured) {
  return z.object({ ...counterMembers, ...measured });
}

/** One reading of a wheel's counter as the gateway publishes it on `miner.counter.<installation>` (MESSAGES.md, Counter reading). */
export const counterReadingMessage = defineReadingMessage(measurements);

/** A message as gateways publish it: a value that a later version has added may be absent. */
export type CounterReadingMessage = z.input<typeof counterReadingMessage>;

/** A folded reading: times in epoch milliseconds, the counter as a bigint, UUIDs in lower case. */
export const counterReading = z.strictObject(
  withoutDefaults(
    counterReadingMessage.omit({ observedAt: true, receivedAt: true }).extend({
      observedAtMs: milliseconds,
      receivedAtMs: milliseconds,
      cumulativeWorkUnits: amount,
      /** Receipt position: sequence of the reading's message in `MINER_COUNTER`. */
      position: count,
    }).shape,
  ),
);
export type CounterReading = Inferred<typeof counterReading>;

/** A reading whose measured values are added one after another, so that all readings have one hidden class, which saves memory. */
export type UnmeasuredReading = Omit<CounterReading, Measurement> & { [name: string]: unknown };

/** Creates the function that converts messages with these measured values. */
export function createReadingConversion(
  measured: MeasuredValues,
): (message: z.output<typeof counterReadingMessage>, position: number) => CounterReading {
  const names = Object.keys(measured);
  return (message, position) => {
    const reading: UnmeasuredReading = {
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
      position,
    };
    const values: Readonly<Record<string, unknown>> = message;
    for (const name of names) reading[name] = values[name];
    // The schema has checked the values.
    return reading as CounterReading;
  };
}

/** The reading of a message that fits the schema. */
export const toCounterReading = createReadingConversion(measurements);
