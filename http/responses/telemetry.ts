import { z } from 'zod';
import { freshnessStates, type TelemetryView } from '../../actors/views/views.ts';
import { toIsoStringOrNull } from './isoTime.ts';
import {
  coreStatus,
  decimal,
  installationId,
  provenance,
  schemaVersion,
  timestamp,
  uuid,
} from './scalars.ts';

export const telemetryResponse = z
  .strictObject({
    schemaVersion: schemaVersion(1),
    installationId: installationId.describe('The installation that the request names, or the public one'),
    revision: z
      .string()
      .min(1)
      .nullable()
      .meta({ description: 'Opaque receipt revision; null without an accepted one' }),
    status: z
      .enum(freshnessStates)
      .meta({ description: 'Age of the receipt, not connectivity of the device' }),
    observedAt: timestamp
      .nullable()
      .describe('When the device took the reading, by its own clock; null without one'),
    receivedAt: timestamp.nullable().describe('When the gateway received the reading; null without one'),
    softwareVersion: z
      .string()
      .nullable()
      .describe('Version of the software of the device, as it says; null where it says none'),
    measurement: z
      .strictObject({
        counterEpoch: uuid.describe('Period of the counter within which it never falls'),
        cumulativeWorkUnits: decimal.describe(
          'Value of the counter in its epoch, in work units; measured, not settled',
        ),
        provenance: provenance.describe('Where the value comes from'),
        coreStatus: coreStatus.describe('State of the counter, as the device reports it'),
      })
      .nullable()
      .describe('The newest accepted reading; null without one, which is not zero'),
  })
  .meta({ id: 'Telemetry', description: 'Measurement of one installation' });

export type TelemetryResponse = z.infer<typeof telemetryResponse>;

export function toTelemetryBody(view: TelemetryView): TelemetryResponse {
  const { reading } = view;
  return {
    schemaVersion: 1,
    installationId: view.installationId,
    revision: view.revision,
    status: view.freshness,
    observedAt: toIsoStringOrNull(reading?.observedAtMs ?? null),
    receivedAt: toIsoStringOrNull(reading?.receivedAtMs ?? null),
    softwareVersion: reading?.softwareVersion ?? null,
    measurement:
      reading === null
        ? null
        : {
            counterEpoch: reading.counterEpoch,
            cumulativeWorkUnits: reading.cumulativeWorkUnits.toString(),
            provenance: reading.provenance,
            coreStatus: reading.coreStatus,
          },
  };
}
