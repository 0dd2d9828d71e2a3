import {
  type CounterReading,
  coreStatuses,
  isLater,
  type Measurement,
  mapMeasurements,
  provenances,
} from '../../actors/wheel/counterReading.ts';
import {
  amount,
  type Column,
  column,
  count,
  enumerated,
  name,
  nullableCount,
  nullableString,
  time,
  uuid,
} from '../definition/column.ts';
import { type OfRun, runColumn, storedByColumn } from '../definition/runColumns.ts';
import { defineTable } from '../definition/table.ts';

const measuredCodecs: Readonly<Partial<Record<Measurement, string>>> = { distanceMm: 'T64, ZSTD(1)' };

/** Columns of the measured values. A value that messages may lack is nullable. */
const measuredColumns = mapMeasurements<{
  readonly [Name in Measurement]: Column<CounterReading[Name]>;
}>((key, schema) => {
  const { [key]: codec = 'DoubleDelta, ZSTD(1)' } = measuredCodecs;
  const about = { comment: schema.description, codec };
  return isLater(schema) ? column(nullableCount, about) : column(count, about);
});

/**
 * Accepted readings. With these codecs 5,000,000 generated readings took 24.7 bytes each, with the default codec 69.3: 16 for
 * `telemetry_id`, 3.3 for `cumulative_work_units`, 1.6 for `distance_mm`.
 */
export const readings = defineTable<CounterReading & OfRun, CounterReading>({
  name: 'stored_readings',
  comment: 'Accepted readings of the wheels, one row each',
  columns: {
    run: runColumn,
    installationId: column(name, { comment: 'Installation of the wheel', codec: 'ZSTD(1)' }),
    position: column(count, {
      comment: 'Sequence of its message in MINER_COUNTER',
      codec: 'DoubleDelta, ZSTD(1)',
    }),
    telemetryId: column(uuid, { comment: 'ID that the gateway gave the reading', codec: 'ZSTD(1)' }),
    bootId: column(uuid, { comment: 'Boot of the device', codec: 'ZSTD(1)' }),
    sequence: column(count, {
      comment: 'Number of the reading since that boot, from 0',
      codec: 'DoubleDelta, ZSTD(1)',
    }),
    observedAtMs: column(time, { comment: 'When the device read its counter', codec: 'Delta, ZSTD(1)' }),
    receivedAtMs: column(time, { comment: 'When the gateway received it', codec: 'DoubleDelta, ZSTD(1)' }),
    counterEpoch: column(uuid, {
      comment: 'Epoch of the counter: within one it never falls',
      codec: 'ZSTD(1)',
    }),
    cumulativeWorkUnits: column(amount, {
      comment: 'Work since the epoch of the counter began, in work units',
      codec: 'ZSTD(1)',
    }),
    provenance: column(enumerated(provenances), {
      comment: 'Where the reading comes from',
      codec: 'ZSTD(1)',
    }),
    // `LowCardinality` would save 0.06 bytes, and add a tenth to the time of an insert.
    softwareVersion: column(nullableString, { comment: 'Software of the device; null if unknown' }),
    coreStatus: column(enumerated(coreStatuses), { comment: 'State of the counter', codec: 'ZSTD(1)' }),
    ...measuredColumns,
    storedBy: storedByColumn('MINER_COUNTER'),
  },
  shared: ['run'],
  repeats: { storedBy: 'position' },
  engine: 'ReplacingMergeTree(position)',
  partitionBy: { value: 'run', month: 'observedAtMs' },
  orderBy: ['run', 'installationId', 'position'],
  // Pages and queries by time then read only the months that they need.
  ranges: ['storedBy', 'observedAtMs'],
});
