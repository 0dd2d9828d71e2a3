import type { BucketRow, RoundRow, StoredRows } from '../actors/storedRows.ts';
import type { AcceptedReading } from '../actors/views.ts';
import { partitionMs, type Tables } from './tables.ts';
import { cellText, tabSeparated } from './tabSeparated.ts';

/** ClickHouse refuses an insert into more than 100 partitions. */
const partitionsMax = 50;

/** One INSERT: its table, and its rows in the order of `columns`, as `TabSeparated` text. */
export interface RowInsert {
  readonly table: string;
  readonly columns: readonly string[];
  readonly text: string;
  readonly rowCount: number;
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

/** Rows of one table and of few partitions. */
interface Segment {
  readonly text: string;
  readonly rowCount: number;
  readonly partitions: ReadonlySet<number>;
}

/** A piece of the stream's rows as text: what waits for ClickHouse is a few strings, not many objects. */
export interface EncodedRows {
  readonly rounds: readonly Segment[];
  readonly buckets: readonly Segment[];
  readonly readings: readonly Segment[];
  readonly rowCount: number;
  readonly throughPosition: number;
}

export function encodeRows({ rounds, buckets, readings, throughPosition }: StoredRows): EncodedRows {
  return {
    rounds: segmentsOf(rounds, (row) => row.startMs, roundLine),
    buckets: segmentsOf(buckets, (row) => row.startMs, bucketLine),
    readings: segmentsOf(readings, (row) => row.observedAtMs, readingLine),
    rowCount: rounds.length + buckets.length + readings.length,
    throughPosition,
  };
}

/**
 * The inserts of consecutive pieces of the stream. Readings come last and in order of position, so that the largest
 * position among the stored readings tells that everything below it is stored, rounds and buckets too.
 */
export function insertsOf(tables: Tables, pieces: readonly EncodedRows[]): RowInsert[] {
  const rounds = pieces.flatMap((piece) => piece.rounds);
  const buckets = pieces.flatMap((piece) => piece.buckets);
  const readings = pieces.flatMap((piece) => piece.readings);
  return [
    ...joined(rounds).map((segment) => ({ table: tables.rounds, columns: roundColumns, ...segment })),
    ...joined(buckets).map((segment) => ({
      table: tables.halfHourBuckets,
      columns: bucketColumns,
      ...segment,
    })),
    ...joined(readings).map((segment) => ({ table: tables.readings, columns: readingColumns, ...segment })),
  ];
}

function segmentsOf<Row>(
  rows: readonly Row[],
  timeMs: (row: Row) => number,
  lineOf: (row: Row) => string,
): Segment[] {
  const segments: Segment[] = [];
  let lines: string[] = [];
  let partitions = new Set<number>();
  const close = () => {
    if (lines.length > 0) segments.push({ text: lines.join(''), rowCount: lines.length, partitions });
    lines = [];
    partitions = new Set();
  };
  for (const row of rows) {
    const partition = Math.trunc(timeMs(row) / partitionMs);
    if (!partitions.has(partition)) {
      if (partitions.size === partitionsMax) close();
      partitions.add(partition);
    }
    lines.push(lineOf(row));
  }
  close();
  return segments;
}

/** Neighbours as one, as long as they stay within few partitions. */
function joined(segments: readonly Segment[]): { text: string; rowCount: number }[] {
  const groups: { texts: string[]; rowCount: number; partitions: Set<number> }[] = [];
  for (const { text, rowCount, partitions } of segments) {
    const group = groups.at(-1);
    const together = new Set([...(group?.partitions ?? []), ...partitions]);
    if (group === undefined || together.size > partitionsMax) {
      groups.push({ texts: [text], rowCount, partitions: new Set(partitions) });
    } else {
      group.texts.push(text);
      group.rowCount += rowCount;
      group.partitions = together;
    }
  }
  return groups.map(({ texts, rowCount }) => ({ text: texts.join(''), rowCount }));
}

/** Written out: a row of cells for each of many thousand readings a second costs more than the line. */
function readingLine(reading: AcceptedReading): string {
  return (
    `${cellText(reading.installationId)}\t${reading.position}\t${reading.telemetryId}\t${reading.bootId}\t` +
    `${reading.sequence}\t${reading.observedAtMs}\t${reading.receivedAtMs}\t${reading.counterEpoch}\t` +
    `${reading.cumulativeWorkUnits}\t${reading.provenance}\t${cellText(reading.softwareVersion)}\t` +
    `${reading.coreStatus}\t${reading.rpmMilli}\t${reading.speedMmPerSecond}\t${reading.distanceMm}\n`
  );
}

function roundLine(row: RoundRow): string {
  return tabSeparated([[row.installationId, row.roundId, row.startMs, row.workUnits, row.position]]);
}

function bucketLine(row: BucketRow): string {
  return tabSeparated([
    [
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
    ],
  ]);
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
