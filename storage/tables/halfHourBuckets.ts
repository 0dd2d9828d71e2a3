import type { BucketRow } from '../../actors/wheel/roundFold.ts';
import { byte, column, count, name, sum, time } from './column.ts';
import { defineTable } from './table.ts';

/** A half hour as it is stored: its work is null where it is above what the column holds. */
export interface StoredBucket extends Omit<BucketRow, 'workUnits'> {
  readonly workUnits: bigint | null;
}

/** Half hours that held readings; each generation has a table of them. */
export const halfHourBuckets = defineTable<StoredBucket>({
  name: 'half_hour_buckets',
  comment: 'Half hours that held readings, by when these were observed',
  columns: {
    installationId: column(name, { comment: 'Installation that the wheel is of' }),
    startMs: column(time, { comment: 'Start of the half hour', codec: 'DoubleDelta, ZSTD(1)' }),
    observedRoundCount: column(byte, { comment: 'Rounds of it that were observed, 0 to 3' }),
    workUnits: column(sum, {
      comment: 'Work of its observed rounds in work units; null where it is above 2^256 - 1',
      codec: 'ZSTD(1)',
    }),
    readingCount: column(count, { comment: 'Accepted readings' }),
    maxDistanceMm: column(count, { comment: 'Largest distance of a reading in millimetres' }),
    peakRpmMilli: column(count, { comment: 'Largest thousandths of a revolution per minute of a reading' }),
    peakRpmAtMs: column(time, { comment: 'When the first reading that had it was observed' }),
    peakSpeedMmPerSecond: column(count, { comment: 'Largest speed of a reading in millimetres per second' }),
    peakSpeedAtMs: column(time, { comment: 'When the first reading that had it was observed' }),
    position: column(count, {
      comment: 'Sequence in MINER_COUNTER of the reading that closed the half hour',
      codec: 'Delta, ZSTD(1)',
    }),
  },
  engine: 'ReplacingMergeTree(position)',
  partitionBy: { month: 'startMs' },
  orderBy: ['installationId', 'startMs'],
});
