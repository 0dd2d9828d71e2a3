import { z } from 'zod';
import type { MeasurementView, ProcessView } from '../../../actors/views/views.ts';
import { toIsoString } from '../isoTime.ts';
import { generatedAt, installationId, schemaVersion, text, uint64Max } from '../scalars.ts';
import { processBuilder, toProcessBuilderBody } from './builder.ts';
import { measurementUint64, toMeasurementBody } from './measurement.ts';
import { oracle, toOracleBody } from './oracle.ts';
import { processQueue, toProcessQueueBody } from './settlementQueue.ts';

export const processResponse = z
  .strictObject({
    schemaVersion: schemaVersion(4),
    installationId: installationId.describe('The public installation'),
    revision: text.meta({ description: 'Opaque; does not change with generatedAt alone' }),
    generatedAt,
    measurement: measurementUint64
      .nullable()
      .describe(
        'The newest accepted reading; null without one, and where its counter is above 2^64 - 1, which telemetry and the status show',
      ),
    builder: processBuilder.describe('What would settle if all measured work settled now'),
    oracle: oracle.describe('Who closes rounds'),
    settlementQueue: processQueue.describe('What waits for settlement, and what is under way'),
  })
  .meta({ id: 'Process', description: 'Process snapshot' });

export type ProcessResponse = z.infer<typeof processResponse>;

export function toProcessBody(view: ProcessView): ProcessResponse {
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

/** A counter above 2^64 - 1 cannot be shown by the public route, and is null there rather than a wrong number. */
function isUint64(measurement: MeasurementView | null): measurement is MeasurementView {
  return measurement !== null && measurement.reading.cumulativeWorkUnits <= uint64Max;
}
