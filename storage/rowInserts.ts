import type { BucketRow, RoundRow, StoredRows } from '../actors/storedRows.ts';
import type { AcceptedReading } from '../actors/views.ts';
import { partitionMs, type Tables } from './tables.ts';
import type { Cell } from './tabSeparated.ts';

/** ClickHouse refuses an insert into more than 100 partitions. */
const partitionsMax = 50;

/** One INSERT: its table, and its rows in the order of `columns`. */
export interface RowInsert {
  readonly table: string;
  readonly columns: readonly string[];
  readonly rows: readonly (readonly Cell[])[];
}

export const readingColumns = [
  'installation_id',
  'position',
  'telemetry_id',
  'boot_id',
  'sequence',
  'observed_at_ms',
  'received_at_ms',
  'counter_epoch',
  'cumulative_work_units',
  'provenance',
  'software_version',
  'core_status',
  'rpm_milli',
  'speed_mm_per_second',
  'distance_mm',
];

export const roundColumns = ['installation_id', 'round_id', 'start_ms', 'work_units', 'position'];

export const bucketColumns = [
  'installation_id',
  'start_ms',
  'observed_round_count',
  'work_units',
  'reading_count',
  'max_distance_mm',
  'peak_rpm_milli',
  'peak_rpm_at_ms',
  'peak_speed_mm_per_second',
  'peak_speed_at_ms',
  'position',
];

/** Select list of {@link readingOfRow}. */
export const readingSelectList = readingColumns.join(', ');

/**
 * The inserts of consecutive pieces of the stream. Readings come last and in order of position, so that the largest
 * position among the stored readings tells that everything below it is stored, rounds and buckets too.
 */
export function insertsOf(tables: Tables, pieces: readonly StoredRows[]): RowInsert[] {
  const rounds = pieces.flatMap((piece) => piece.rounds);
  const buckets = pieces.flatMap((piece) => piece.buckets);
  const readings = pieces.flatMap((piece) => piece.readings);
  return [
    ...split(tables.rounds, roundColumns, rounds, (row) => row.startMs, roundCells),
    ...split(tables.halfHourBuckets, bucketColumns, buckets, (row) => row.startMs, bucketCells),
    ...split(tables.readings, readingColumns, readings, (row) => row.observedAtMs, readingCells),
  ];
}

function split<Row>(
  table: string,
  columns: readonly string[],
  rows: readonly Row[],
  timeMs: (row: Row) => number,
  cellsOf: (row: Row) => readonly Cell[],
): RowInsert[] {
  const inserts: RowInsert[] = [];
  let current: (readonly Cell[])[] = [];
  let partitions = new Set<number>();
  const close = () => {
    if (current.length > 0) inserts.push({ table, columns, rows: current });
    current = [];
    partitions = new Set();
  };
  for (const row of rows) {
    const partition = Math.trunc(timeMs(row) / partitionMs);
    if (!partitions.has(partition) && partitions.size === partitionsMax) close();
    partitions.add(partition);
    current.push(cellsOf(row));
  }
  close();
  return inserts;
}

function readingCells(reading: AcceptedReading): readonly Cell[] {
  return [
    reading.installationId,
    reading.position,
    reading.telemetryId,
    reading.bootId,
    reading.sequence,
    reading.observedAtMs,
    reading.receivedAtMs,
    reading.counterEpoch,
    reading.cumulativeWorkUnits,
    reading.provenance,
    reading.softwareVersion,
    reading.coreStatus,
    reading.rpmMilli,
    reading.speedMmPerSecond,
    reading.distanceMm,
  ];
}

function roundCells(row: RoundRow): readonly Cell[] {
  return [row.installationId, row.roundId, row.startMs, row.workUnits, row.position];
}

function bucketCells(row: BucketRow): readonly Cell[] {
  return [
    row.installationId,
    row.startMs,
    row.observedRoundCount,
    row.workUnits,
    row.readingCount,
    row.maxDistanceMm,
    row.peakRpmMilli,
    row.peakRpmAtMs,
    row.peakSpeedMmPerSecond,
    row.peakSpeedAtMs,
    row.position,
  ];
}

/** A reading from a row of {@link readingSelectList}. */
export function readingOfRow(row: readonly (string | number | null)[]): AcceptedReading {
  const text = (column: number) => row[column] as string;
  // Servers differ in whether they quote 64-bit integers; all of these are safe integers.
  const count = (column: number) => Number(row[column]);
  return {
    installationId: text(0),
    position: count(1),
    telemetryId: text(2),
    bootId: text(3),
    sequence: count(4),
    observedAtMs: count(5),
    receivedAtMs: count(6),
    counterEpoch: text(7),
    cumulativeWorkUnits: BigInt(text(8)),
    provenance: text(9) as AcceptedReading['provenance'],
    softwareVersion: row[10] as string | null,
    coreStatus: text(11) as AcceptedReading['coreStatus'],
    rpmMilli: count(12),
    speedMmPerSecond: count(13),
    distanceMm: count(14),
  };
}
