import {
  type CounterReading,
  coreStatuses,
  measurements,
  provenances,
} from '../../actors/wheel/counterReading.ts';
import { amount, column, count, enumerated, name, nullableString, time, uuid } from './column.ts';
import { defineTable } from './table.ts';

/** Accepted readings; each generation has a table of them. Codecs are by the figures of `storage/README.md`. */
export const readings = defineTable<CounterReading>({
  name: 'readings',
  comment: 'Readings of the wheels that were accepted, one row each',
  columns: {
    installationId: column(name, { comment: 'Installation that the wheel is of', codec: 'ZSTD(1)' }),
    position: column(count, {
      comment: 'Sequence of its message in MINER_COUNTER',
      codec: 'DoubleDelta, ZSTD(1)',
    }),
    telemetryId: column(uuid, { comment: 'The reading, as its gateway names it', codec: 'ZSTD(1)' }),
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
    // Of low cardinality it would take 0.06 bytes less, and a tenth more time of an insert.
    softwareVersion: column(nullableString, { comment: 'Software of the device; null where it is unknown' }),
    coreStatus: column(enumerated(coreStatuses), { comment: 'State of the counter', codec: 'ZSTD(1)' }),
    rpmMilli: column(count, {
      comment: measurements.rpmMilli.description,
      codec: 'DoubleDelta, ZSTD(1)',
    }),
    speedMmPerSecond: column(count, {
      comment: measurements.speedMmPerSecond.description,
      codec: 'DoubleDelta, ZSTD(1)',
    }),
    distanceMm: column(count, { comment: measurements.distanceMm.description, codec: 'T64, ZSTD(1)' }),
  },
  engine: 'ReplacingMergeTree(position)',
  partitionBy: { month: 'observedAtMs' },
  orderBy: ['installationId', 'position'],
  // A page is read from the months that hold some of it alone; a query by time reads no others either.
  ranges: ['position', 'observedAtMs'],
});
