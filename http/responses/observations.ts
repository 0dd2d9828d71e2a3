import { z } from 'zod';
import type { AcceptedReading, ObservationPage } from '../../actors/views.ts';
import { decimal, installationId, isoOf, provenance, safeCount, timestamp, uuid } from './scalars.ts';

export const cursor = z
  .string()
  .regex(/^[A-Za-z0-9_-]{1,512}$/)
  .meta({ id: 'Cursor', description: 'Opaque; sent back unchanged' });

const observation = z
  .strictObject({
    cursor,
    telemetryId: uuid,
    installationId,
    bootId: uuid,
    sequence: safeCount,
    observedAt: timestamp,
    receivedAt: timestamp,
    counterEpoch: uuid,
    cumulativeWorkUnits: decimal,
    provenance,
    softwareVersion: z.string().nullable(),
  })
  .meta({ id: 'Observation', description: 'One accepted reading: a counter value, not settled work' });

export const observationsResponse = z
  .strictObject({
    schemaVersion: z.literal(1),
    installationId,
    items: z.array(observation).max(100),
    nextCursor: cursor.nullable().meta({ description: 'Null when no other item exists now' }),
  })
  .meta({ id: 'Observations' });

export type ObservationsResponse = z.infer<typeof observationsResponse>;

export function observationsBody(installationId: string, page: ObservationPage): ObservationsResponse {
  const last = page.items.at(-1);
  return {
    schemaVersion: 1,
    installationId,
    items: page.items.map(observationBody),
    nextCursor: page.more && last !== undefined ? cursorOf(last.position) : null,
  };
}

function observationBody(reading: AcceptedReading): z.infer<typeof observation> {
  return {
    cursor: cursorOf(reading.position),
    telemetryId: reading.telemetryId,
    installationId: reading.installationId,
    bootId: reading.bootId,
    sequence: reading.sequence,
    observedAt: isoOf(reading.observedAtMs),
    receivedAt: isoOf(reading.receivedAtMs),
    counterEpoch: reading.counterEpoch,
    cumulativeWorkUnits: reading.cumulativeWorkUnits.toString(),
    provenance: reading.provenance,
    softwareVersion: reading.softwareVersion,
  };
}

/** base64url of the decimal receipt position (design, section 2). */
export function cursorOf(position: number): string {
  return Buffer.from(String(position)).toString('base64url');
}

/** The position of a cursor; null when it does not decode to a positive decimal. */
export function positionOf(cursor: string): number | null {
  const decoded = Buffer.from(cursor, 'base64url').toString('latin1');
  if (!/^[1-9][0-9]{0,15}$/.test(decoded)) return null;
  const position = Number(decoded);
  // Only one spelling of a position is a cursor: characters outside the alphabet decode to nothing.
  return Number.isSafeInteger(position) && cursorOf(position) === cursor ? position : null;
}
