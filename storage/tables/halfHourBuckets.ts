import type { BucketRow } from '../../actors/storedRows.ts';
import { byte, decimal, integer, string } from './column.ts';
import { defineTable } from './table.ts';

/** Half hours that held readings; each generation has a table of them. */
export const halfHourBuckets = defineTable<BucketRow>({
  name: 'half_hour_buckets',
  columns: {
    installationId: string,
    startMs: integer,
    observedRoundCount: byte,
    workUnits: decimal,
    readingCount: integer,
    maxDistanceMm: integer,
    peakRpmMilli: integer,
    peakRpmAtMs: integer,
    peakSpeedMmPerSecond: integer,
    peakSpeedAtMs: integer,
    position: integer,
  },
  engine: 'ReplacingMergeTree(position)',
  partitionBy: { time: 'startMs' },
  orderBy: ['installationId', 'startMs'],
});
