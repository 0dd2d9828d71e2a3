import { z } from 'zod';
import type { ProcessView } from '../../../actors/views/actorViews.ts';
import type { MeasurementView } from '../../../actors/views/processProjection.ts';
import { toIsoString } from '../encodeView.ts';
import { generatedAt, installationId, schemaVersion, text, uint64Max } from '../scalars.ts';
import { processBuilder, toProcessBuilderBody } from './builder.ts';
import { measurementUint64, toMeasurementBody } from './measurement.ts';
import { oracle, toOracleBody } from './oracle.ts';
import { processQueue, toProcessQueueBody } from './settlementQueue.ts';

export const processResponse = z
  .strictObject({
    schemaVersion: schemaVersion(4),
    installationId: installationId.describe('The public installation'),
    revision: text.meta({ description: 'Opaque; a change of `generatedAt` alone does not change it' }),
    generatedAt,
    measurement: measurementUint64
      .nullable()
      .describe(
        'The newest accepted reading. Null before the first, and for a counter above 2^64 - 1, which telemetry and status show',
      ),
    builder: processBuilder.describe('Projection: all measured work settled now'),
    oracle: oracle.describe('State of the oracle, which closes rounds'),
    settlementQueue: processQueue.describe('Rounds that wait for settlement, and the current submission'),
  })
  .meta({ id: 'Process', description: 'Process snapshot' });

export function toProcessBody(view: ProcessView): z.infer<typeof processResponse> {
  return {
    schemaVersion: 4,
    installationId: view.installationId,
    revision: view.revision,
    generatedAt: toIsoString(view.generatedAtMs),
    measurement: isUint64(view.measurement) ? toMeasurementBody(view.measurement) : null,
    builder: toProcessBuilderBody(view.builder),
    oracle: toOracleBody(view.oracle),
    settlementQueue: toProcessQueueBody(view.settlementQueue),
  };
}

/** The public route cannot show a counter above 2^64 - 1, so it shows null. */
function isUint64(measurement: MeasurementView | null): measurement is MeasurementView {
  return measurement !== null && measurement.reading.cumulativeWorkUnits <= uint64Max;
}
