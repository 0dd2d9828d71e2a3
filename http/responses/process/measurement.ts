import { z } from 'zod';
import {
  type Measurement,
  type MeasurementView,
  measurements,
  stalenessSeconds,
} from '../../../actors/views/views.ts';
import { toIsoString } from '../isoTime.ts';
import { coreStatus, decimal, provenance, safeCount, timestamp, uint64Decimal, uuid } from '../scalars.ts';

const measured = {
  rpmMilli: safeCount.meta({ description: measurements.rpmMilli.description }),
  speedMmPerSecond: safeCount.meta({ description: measurements.speedMmPerSecond.description }),
  distanceMm: safeCount.meta({
    description: `${measurements.distanceMm.description}, which the device reports for its current universal day`,
  }),
} satisfies Record<Measurement, z.ZodType>;

const measurementMembers = {
  freshness: z
    .enum(['online', 'stale'])
    .describe(
      '`online` while the newest accepted reading was received at most 120 seconds ago, then `stale`',
    ),
  observedAt: timestamp.describe('When the device took the reading, by its own clock'),
  receivedAt: timestamp.describe('When the gateway received it'),
  staleAfterSeconds: z
    .literal(stalenessSeconds)
    .describe('Seconds after the receipt for which a reading is fresh'),
  counterEpoch: uuid.describe('Period of the counter within which it never falls'),
  provenance: provenance.describe('Where the value comes from'),
  coreStatus: coreStatus.describe('State of the counter, as the device reports it'),
  ...measured,
};

export const measurement = z
  .strictObject({
    ...measurementMembers,
    cumulativeWorkUnits: decimal.describe(
      'Value of the counter in its epoch, in work units; measured, not settled',
    ),
  })
  .meta({ id: 'Measurement' });

export const measurementUint64 = z
  .strictObject({
    ...measurementMembers,
    cumulativeWorkUnits: uint64Decimal.describe(
      'Value of the counter in its epoch, in work units; measured, not settled. A larger value than 2^64 - 1 is not shown here: `measurement` is null then',
    ),
  })
  .meta({ id: 'MeasurementUint64' });

export function toMeasurementBody({ freshness, reading }: MeasurementView): z.infer<typeof measurement> {
  return {
    freshness,
    observedAt: toIsoString(reading.observedAtMs),
    receivedAt: toIsoString(reading.receivedAtMs),
    staleAfterSeconds: stalenessSeconds,
    counterEpoch: reading.counterEpoch,
    cumulativeWorkUnits: reading.cumulativeWorkUnits.toString(),
    provenance: reading.provenance,
    coreStatus: reading.coreStatus,
    rpmMilli: reading.rpmMilli,
    speedMmPerSecond: reading.speedMmPerSecond,
    distanceMm: reading.distanceMm,
  };
}
