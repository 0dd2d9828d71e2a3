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
  return { status: findFreshness(reading, nowMs), ...showTimes(reading), measurement: reading };
}

const showTimes = ({ observedAtMs, receivedAtMs }: Reading) => ({
  observedAt: toIso(observedAtMs),
  receivedAt: toIso(receivedAtMs),
});

/** CONTRACT.md, Observations: the readings after a cursor, which is base64url of a position. */
export function measureObservations(readings: readonly Reading[], cursor: string | null) {
  const after = cursor === null ? 0 : Number(Buffer.from(cursor, 'base64url').toString());
  const items = readings.filter(({ position }) => position > after);
  return { items: items.map((reading) => ({ ...reading, ...showTimes(reading) })) };
}
