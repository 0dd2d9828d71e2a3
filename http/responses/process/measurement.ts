import { z } from 'zod';
import type { MeasurementView } from '../../../actors/views/processProjection.ts';
import {
  type CounterReading,
  isLater,
  type Measurement,
  mapMeasurements,
  measurements,
} from '../../../actors/wheel/counterReading.ts';
import { stalenessSeconds } from '../../../actors/wheel/telemetryView.ts';
import { toIsoString } from '../encodeView.ts';
import {
  coreStatus,
  decimal,
  defineObject,
  provenance,
  safeCount,
  timestamp,
  uint64Decimal,
  uuid,
} from '../scalars.ts';

const descriptions: Readonly<Partial<Record<Measurement, string>>> = {
  distanceMm: `${measurements.distanceMm.description}, as reported for the device’s current universal day`,
};

/** The measured values. A value that messages may lack is nullable. */
const measured = mapMeasurements<{
  readonly [Name in Measurement]: z.ZodType<CounterReading[Name], CounterReading[Name]>;
}>((name, schema) => {
  const { [name]: description = schema.description } = descriptions;
  return (isLater(schema) ? safeCount.nullable() : safeCount).meta({ description });
});

const measurementMembers = {
  freshness: z
    .enum(['online', 'stale'])
    .meta({ id: 'MeasurementFreshness' })
    .describe('`online` for 120 seconds after the newest accepted reading was received, then `stale`'),
  observedAt: timestamp.describe('When the device took the reading, by its own clock'),
  receivedAt: timestamp.describe('When the gateway received it'),
  staleAfterSeconds: z
    .literal(stalenessSeconds)
    .describe('Seconds for which a reading is fresh after its receipt'),
  counterEpoch: uuid.describe('Period of the counter within which it never falls'),
  provenance: provenance.describe('Source of the value'),
  coreStatus: coreStatus.describe('State of the counter, as reported by the device'),
  ...measured,
};

export const measurement = defineObject('Measurement', {
  ...measurementMembers,
  cumulativeWorkUnits: decimal.describe(
    'Value of the counter in its epoch, in work units; measured, not settled',
  ),
});

export const measurementUint64 = defineObject('MeasurementUint64', {
  ...measurementMembers,
  cumulativeWorkUnits: uint64Decimal.describe(
    'Value of the counter in its epoch, in work units; measured, not settled. Above 2^64 - 1 `measurement` is null',
  ),
});

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
    ...mapMeasurements<Pick<CounterReading, Measurement>>((name) => reading[name]),
  };
}
