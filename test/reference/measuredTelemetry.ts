import type { Reading } from './acceptedReadings.ts';
import { toIso } from './messages.ts';

/** CONTRACT.md, Measurement freshness. */
export function findFreshness(reading: Reading, nowMs: number): 'online' | 'stale' {
  return nowMs - reading.receivedAtMs <= 120_000 ? 'online' : 'stale';
}

/** CONTRACT.md, Measurement. The readings are the accepted ones of the installation. */
export function measureTelemetry(readings: readonly Reading[], nowMs: number) {
  const reading = readings.at(-1);
  if (reading === undefined)
    return { status: 'offline', observedAt: null, receivedAt: null, measurement: null };
  return {
    status: findFreshness(reading, nowMs),
    observedAt: toIso(reading.observedAtMs),
    receivedAt: toIso(reading.receivedAtMs),
    measurement: { cumulativeWorkUnits: String(reading.cumulativeWorkUnits) },
  };
}

/** CONTRACT.md, Observations: the readings after a cursor, which is base64url of a position. */
export function measureObservations(readings: readonly Reading[], cursor: string | null) {
  const after = cursor === null ? 0 : Number(Buffer.from(cursor, 'base64url').toString());
  return {
    items: readings
      .filter(({ position }) => position > after)
      .map((reading) => ({
        telemetryId: reading.telemetryId,
        sequence: reading.sequence,
        observedAt: toIso(reading.observedAtMs),
        receivedAt: toIso(reading.receivedAtMs),
        cumulativeWorkUnits: String(reading.cumulativeWorkUnits),
      })),
  };
}
