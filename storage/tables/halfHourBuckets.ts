import type { BucketRow } from '../../actors/wheel/roundFold.ts';
import { byte, column, count, name, sum, time } from '../definition/column.ts';
import { type OfRun, runColumn, type StoredWork, storedByColumn } from '../definition/runColumns.ts';
import { defineTable } from '../definition/table.ts';

/** Half hours with readings. */
export const halfHourBuckets = defineTable<StoredWork<BucketRow> & OfRun, StoredWork<BucketRow>>({
  name: 'stored_half_hour_buckets',
  comment: 'Half hours with readings, by time of observation',
  columns: {
    run: runColumn,
    installationId: column(name, { comment: 'Installation of the wheel' }),
    startMs: column(time, { comment: 'Start of the half hour', codec: 'DoubleDelta, ZSTD(1)' }),
    observedRoundCount: column(byte, { comment: 'Observed rounds of the half hour, 0 to 3' }),
    workUnits: column(sum, {
      comment: 'Work of its observed rounds in work units; null above 2^256 - 1',
      codec: 'ZSTD(1)',
    }),
    readingCount: column(count, { comment: 'Accepted readings' }),
    maxDistanceMm: column(count, { comment: 'Largest distance of a reading in millimetres' }),
    peakRpmMilli: column(count, {
      comment: 'Largest rotation speed of a reading in thousandths of a revolution per minute',
    }),
    peakRpmAtMs: column(time, { comment: 'When the first reading with that maximum was observed' }),
    peakSpeedMmPerSecond: column(count, { comment: 'Largest speed of a reading in millimetres per second' }),
    peakSpeedAtMs: column(time, { comment: 'When the first reading with that maximum was observed' }),
    position: column(count, {
      comment: 'Sequence in MINER_COUNTER of the reading that closed the half hour',
      codec: 'Delta, ZSTD(1)',
    }),
    storedBy: storedByColumn('MINER_COUNTER'),
  },
  shared: ['run'],
  repeats: { storedBy: 'position' },
  engine: 'ReplacingMergeTree(position)',
  partitionBy: { value: 'run', month: 'startMs' },
  orderBy: ['run', 'installationId', 'startMs'],
});
