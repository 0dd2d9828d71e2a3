import { z } from 'zod';
import { parseTimestampMs } from '../schemas/parseTimestampMs.ts';
import { installationId, safeCount, timestamp, uint256Decimal, uuid } from '../schemas/wireScalars.ts';

export const provenances = ['hardware', 'simulated', 'replay', 'derived'] as const;
type Provenance = (typeof provenances)[number];

export const coreStatuses = ['IDLE', 'ACTIVE', 'COUNTER_FAULT'] as const;
type CoreStatus = (typeof coreStatuses)[number];

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
  rpmMilli: safeCount,
  speedMmPerSecond: safeCount,
  distanceMm: safeCount,
});

/** The message as it travels. */
export type CounterReadingMessage = z.infer<typeof counterReadingMessage>;

/** The reading as it is folded: times in epoch milliseconds, the counter as a bigint, UUIDs in lower case. */
export interface CounterReading {
  readonly telemetryId: string;
  readonly installationId: string;
  readonly bootId: string;
  readonly sequence: number;
  readonly observedAtMs: number;
  readonly receivedAtMs: number;
  readonly counterEpoch: string;
  readonly cumulativeWorkUnits: bigint;
  readonly provenance: Provenance;
  readonly softwareVersion: string | null;
  readonly coreStatus: CoreStatus;
  readonly rpmMilli: number;
  readonly speedMmPerSecond: number;
  readonly distanceMm: number;
}

/** The typed reading of a message that fits the schema. */
export function toCounterReading(message: CounterReadingMessage): CounterReading {
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
  };
}

/** A reading that was accepted before its message left the stream, as ClickHouse holds it. */
export interface StoredReading extends CounterReading {
  /** Sequence that its message had. */
  readonly position: number;
}
