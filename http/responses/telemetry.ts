import { z } from 'zod';
import { freshnessStates, type TelemetryView } from '../../actors/wheel/telemetryView.ts';
import { toIsoStringOrNull } from './encodeView.ts';
import {
  coreStatus,
  decimal,
  defineObject,
  installationId,
  provenance,
  schemaVersion,
  timestamp,
  uuid,
} from './scalars.ts';

export const telemetryResponse = z
  .strictObject({
    schemaVersion: schemaVersion(1),
    installationId: installationId.describe('The requested installation, or the public one'),
    revision: z
      .string()
      .min(1)
      .nullable()
      .meta({ description: 'Opaque revision of the receipt; null before the first accepted reading' }),
    status: z.enum(freshnessStates).meta({
      id: 'TelemetryStatus',
      description: 'Freshness of the receipt, not connectivity of the device',
    }),
    observedAt: timestamp
      .nullable()
      .describe('When the device took the reading, by its own clock; null without a reading'),
    receivedAt: timestamp
      .nullable()
      .describe('When the gateway received the reading; null without a reading'),
    softwareVersion: z
      .string()
      .nullable()
      .describe('Version of the device’s software; null if it reports none'),
    measurement: defineObject('TelemetryMeasurement', {
      counterEpoch: uuid.describe('Period of the counter within which it never falls'),
      cumulativeWorkUnits: decimal.describe(
        'Value of the counter in its epoch, in work units; measured, not settled',
      ),
      provenance: provenance.describe('Source of the value'),
      coreStatus: coreStatus.describe('State of the counter, as reported by the device'),
    })
      .nullable()
      .describe('The newest accepted reading; null before the first, which does not mean zero'),
  })
  .meta({ id: 'Telemetry', description: 'Measurement of one installation' });

export function toTelemetryBody(view: TelemetryView): z.infer<typeof telemetryResponse> {
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
