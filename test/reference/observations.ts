import type { ObservationsResponse } from '../../http/responses/observations.ts';
import type { TelemetryResponse } from '../../http/responses/telemetry.ts';
import { opaque, toIso } from './messages.ts';
import type { Reading } from './readings.ts';

/** CONTRACT.md, Measurement freshness. */
export function findFreshness(reading: Reading, nowMs: number): 'online' | 'stale' {
  return nowMs - reading.receivedAtMs <= 120_000 ? 'online' : 'stale';
}

/** CONTRACT.md, Measurement. The readings are the accepted ones of the installation. */
export function buildTelemetry(
  installationId: string,
  readings: readonly Reading[],
  nowMs: number,
): TelemetryResponse {
  const reading = readings.at(-1);
  if (reading === undefined) {
    const nothing = { revision: null, observedAt: null, receivedAt: null, softwareVersion: null };
    return { schemaVersion: 1, installationId, status: 'offline', ...nothing, measurement: null };
  }
  return {
    schemaVersion: 1,
    installationId,
    revision: opaque,
    status: findFreshness(reading, nowMs),
    observedAt: toIso(reading.observedAtMs),
    receivedAt: toIso(reading.receivedAtMs),
    softwareVersion: reading.softwareVersion,
    measurement: {
      counterEpoch: reading.counterEpoch,
      cumulativeWorkUnits: String(reading.cumulativeWorkUnits),
      provenance: reading.provenance,
      coreStatus: reading.coreStatus,
    },
  };
}

/** The cursor of a position: base64url of the decimal. */
const encodeCursor = (position: number) => Buffer.from(String(position)).toString('base64url');

/** CONTRACT.md, Observations. */
export function buildObservations(
  installationId: string,
  readings: readonly Reading[],
  query: URLSearchParams,
): ObservationsResponse {
  const cursor = query.get('cursor');
  const after = cursor === null ? 0 : Number(Buffer.from(cursor, 'base64url').toString());
  const limit = readLimit(query.get('limit'));
  const following = readings.filter(({ position }) => position > after);
  const shown = following.slice(0, limit);
  return {
    schemaVersion: 1,
    installationId,
    items: shown.map((reading) => ({
      cursor: encodeCursor(reading.position),
      telemetryId: reading.telemetryId,
      installationId,
      bootId: reading.bootId,
      sequence: reading.sequence,
      observedAt: toIso(reading.observedAtMs),
      receivedAt: toIso(reading.receivedAtMs),
      counterEpoch: reading.counterEpoch,
      cumulativeWorkUnits: String(reading.cumulativeWorkUnits),
      provenance: reading.provenance,
      softwareVersion: reading.softwareVersion,
    })),
    nextCursor: following.length > limit ? encodeCursor((shown.at(-1) as Reading).position) : null,
  };
}

/** Converted numerically; an integer is clamped to 1-100, anything else gives 100. */
function readLimit(given: string | null): number {
  const limit = given === null ? 100 : Number(given);
  return Number.isInteger(limit) ? Math.min(Math.max(limit, 1), 100) : 100;
}
