import { z } from 'zod';
import { freshnessStates, type TelemetryView } from '../../actors/views/views.ts';
import { toIsoString } from './isoTime.ts';
import { coreStatus, decimal, installationId, provenance, timestamp, uuid } from './scalars.ts';

export const telemetryResponse = z
  .strictObject({
    schemaVersion: z.literal(1),
    installationId,
    revision: z
      .string()
      .min(1)
      .nullable()
      .meta({ description: 'Opaque receipt revision; null without an accepted one' }),
    status: z
      .enum(freshnessStates)
      .meta({ description: 'Age of the receipt, not connectivity of the device' }),
    observedAt: timestamp.nullable(),
    receivedAt: timestamp.nullable(),
    softwareVersion: z.string().nullable(),
    measurement: z
      .strictObject({ counterEpoch: uuid, cumulativeWorkUnits: decimal, provenance, coreStatus })
      .nullable(),
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
    observedAt: reading === null ? null : toIsoString(reading.observedAtMs),
    receivedAt: reading === null ? null : toIsoString(reading.receivedAtMs),
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
