import { z } from 'zod';
import type { ObservationPage } from '../../actors/pages/olderRows.ts';
import type { CounterReading } from '../../actors/wheel/counterReading.ts';
import { toIsoString } from './encodeView.ts';
import {
  cursor,
  decimal,
  defineObject,
  installationId,
  pageMax,
  provenance,
  safeCount,
  schemaVersion,
  timestamp,
  uuid,
} from './scalars.ts';

const observation = z
  .strictObject({
    cursor: cursor.describe('Requests the readings that follow this one'),
    telemetryId: uuid.describe('ID of the reading, assigned by the device'),
    installationId: installationId.describe('The installation that sent it'),
    bootId: uuid.describe('Boot of the device, within which `sequence` ascends'),
    sequence: safeCount.describe('Number of the reading within its boot'),
    observedAt: timestamp.describe('When the device took the reading, by its own clock'),
    receivedAt: timestamp.describe('When the gateway received it'),
    counterEpoch: uuid.describe('Period of the counter within which it never falls'),
    cumulativeWorkUnits: decimal.describe(
      'Value of the counter in its epoch, in work units; not settled work',
    ),
    provenance: provenance.describe('Where the value comes from'),
    softwareVersion: z
      .string()
      .nullable()
      .describe('Version of the device’s software; null if it reports none'),
  })
  .meta({ id: 'Observation', description: 'One accepted reading: a counter value, not settled work' });

export const observationsResponse = defineObject('Observations', {
  schemaVersion: schemaVersion(1),
  installationId: installationId.describe('The installation of the request'),
  items: z.array(observation).max(pageMax).describe('Accepted readings after the cursor, oldest first'),
  nextCursor: cursor
    .nullable()
    .meta({ description: 'Requests the next page; null if no more items exist now' }),
});

export function toObservationsBody(
  installationId: string,
  page: ObservationPage,
): z.infer<typeof observationsResponse> {
  const last = page.items.at(-1);
  return {
    schemaVersion: 1,
    installationId,
    items: page.items.map(toObservationBody),
    nextCursor: page.more && last !== undefined ? encodeObservationCursor(last.position) : null,
  };
}

function toObservationBody(reading: CounterReading): z.infer<typeof observation> {
  return {
    cursor: encodeObservationCursor(reading.position),
    telemetryId: reading.telemetryId,
    installationId: reading.installationId,
    bootId: reading.bootId,
    sequence: reading.sequence,
    observedAt: toIsoString(reading.observedAtMs),
    receivedAt: toIsoString(reading.receivedAtMs),
    counterEpoch: reading.counterEpoch,
    cumulativeWorkUnits: reading.cumulativeWorkUnits.toString(),
    provenance: reading.provenance,
    softwareVersion: reading.softwareVersion,
  };
}

/** base64url of the decimal receipt position (CONTRACT.md, Cursors). */
export function encodeObservationCursor(position: number): string {
  return Buffer.from(String(position)).toString('base64url');
}

/** @returns the position of a cursor; null if it does not decode to a positive decimal. */
export function decodeObservationCursor(cursor: string): number | null {
  const decoded = Buffer.from(cursor, 'base64url').toString('latin1');
  if (!/^[1-9][0-9]{0,15}$/.test(decoded)) return null;
  const position = Number(decoded);
  // Decoding ignores characters outside the alphabet, so only the one exact spelling is accepted.
  return Number.isSafeInteger(position) && encodeObservationCursor(position) === cursor ? position : null;
}
