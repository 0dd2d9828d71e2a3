import type { CounterReading } from './counterReading.ts';

/** A reading that was accepted, with its receipt position: the sequence in `MINER_COUNTER`. */
export interface AcceptedReading extends CounterReading {
  readonly position: number;
}

/**
 * The reading with its receipt position. Many thousands are in memory: strings that a wheel repeats from one reading to
 * the next are shared, and all of them have one shape (a spread would give each a hidden class of its own, which
 * costs more memory than its values).
 */
export function toAcceptedReading(
  reading: CounterReading,
  position: number,
  previous: AcceptedReading | null,
): AcceptedReading {
  return {
    telemetryId: reading.telemetryId,
    installationId: previous?.installationId ?? reading.installationId,
    bootId: reuseEqual(previous?.bootId, reading.bootId),
    sequence: reading.sequence,
    observedAtMs: reading.observedAtMs,
    receivedAtMs: reading.receivedAtMs,
    counterEpoch: reuseEqual(previous?.counterEpoch, reading.counterEpoch),
    cumulativeWorkUnits: reading.cumulativeWorkUnits,
    provenance: reuseEqual(previous?.provenance, reading.provenance),
    softwareVersion: reuseEqual(previous?.softwareVersion, reading.softwareVersion),
    coreStatus: reuseEqual(previous?.coreStatus, reading.coreStatus),
    rpmMilli: reading.rpmMilli,
    speedMmPerSecond: reading.speedMmPerSecond,
    distanceMm: reading.distanceMm,
    position,
  };
}

/** The previous value where the new one is equal to it. */
function reuseEqual<Value>(previous: Value | undefined, value: Value): Value {
  return previous !== undefined && previous === value ? previous : value;
}
