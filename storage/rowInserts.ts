import type { BucketRow, EventRow, RoundRow, StoredRows } from '../actors/storedRows.ts';
import type { AcceptedReading } from '../actors/views/views.ts';
import { createRowText, type RowText } from './rowText.ts';
import { type EventTables, partitionMs, type Tables } from './tables.ts';

/** ClickHouse refuses an insert into more than 100 partitions. */
const partitionsMax = 50;

/** One INSERT: its table, and its rows in the order of `columns`, as `TabSeparated` text. */
export interface RowInsert {
  readonly table: string;
  readonly columns: readonly string[];
  readonly bytes: Buffer;
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

export const eventColumns = [
  'run',
  'category',
  'installation_id',
  'position',
  'ordinal',
  'id',
  'type',
  'recorded_at_ms',
  'arrived_at_ms',
  'event',
];

const eventTimeColumns = ['run', 'category', 'installation_id', 'recorded_at_ms', 'position', 'ordinal'];

const eventIdColumns = ['run', 'id', 'installation_id', 'position', 'ordinal', 'arrived_at_ms'];

/** Select list of {@link readingOfRow}. */
export const readingSelectList = readingColumns.join(', ');

/** Rows of one table and of few partitions. */
interface Segment {
  readonly bytes: Buffer;
  readonly rowCount: number;
  readonly partitions: ReadonlySet<number>;
}

/** A piece of the stream's rows as text: what waits for ClickHouse is a few buffers, not many objects. */
export interface EncodedRows {
  readonly rounds: readonly Segment[];
  readonly buckets: readonly Segment[];
  readonly measurementEvents: EncodedEvents;
  readonly chainEvents: EncodedEvents;
  readonly readings: readonly Segment[];
  readonly rowCount: number;
  readonly byteLength: number;
  readonly throughPosition: number;
}

/** By the table that they are for. */
type EncodedEvents = Readonly<Record<keyof EventTables, readonly Segment[]>>;

/** Encodes pieces of the stream one after another. */
export function createRowEncoder(): (rows: StoredRows) => EncodedRows {
  const text = createRowText();

  function segmentsOf<Row>(
    rows: readonly Row[],
    timeMs: (row: Row) => number,
    write: (text: RowText, row: Row) => void,
  ): Segment[] {
    const segments: Segment[] = [];
    let rowCount = 0;
    let partitions = new Set<number>();
    let newest: number | null = null;
    const close = () => {
      if (rowCount > 0) segments.push({ bytes: text.take(), rowCount, partitions });
      rowCount = 0;
      partitions = new Set();
    };
    for (const row of rows) {
      const partition = Math.trunc(timeMs(row) / partitionMs);
      if (partition !== newest) {
        if (!partitions.has(partition) && partitions.size === partitionsMax) close();
        partitions.add(partition);
        newest = partition;
      }
      write(text, row);
      text.endRow();
      rowCount++;
    }
    close();
    return segments;
  }

  function eventSegmentsOf(rows: readonly EventRow[]): EncodedEvents {
    return {
      ids: segmentsOf(rows, unpartitioned, writeEventId),
      times: segmentsOf(rows, unpartitioned, writeEventTime),
      events: segmentsOf(rows, unpartitioned, writeEvent),
    };
  }

  return ({ rounds, buckets, measurementEvents, chainEvents, readings, throughPosition }) => {
    const eventRowCount = measurementEvents.length + chainEvents.length;
    const encoded = {
      rounds: segmentsOf(rounds, (row) => row.startMs, writeRound),
      buckets: segmentsOf(buckets, (row) => row.startMs, writeBucket),
      measurementEvents: eventSegmentsOf(measurementEvents),
      chainEvents: eventSegmentsOf(chainEvents),
      readings: segmentsOf(readings, (row) => row.observedAtMs, writeReading),
    };
    const segments = [
      ...encoded.rounds,
      ...encoded.buckets,
      ...Object.values(encoded.measurementEvents).flat(),
      ...Object.values(encoded.chainEvents).flat(),
      ...encoded.readings,
    ];
    return {
      ...encoded,
      rowCount: rounds.length + buckets.length + eventRowCount + readings.length,
      byteLength: segments.reduce((sum, { bytes }) => sum + bytes.length, 0),
      throughPosition,
    };
  };
}

/** Time of a row of a table that has one partition. */
const unpartitioned = () => 0;

/**
 * The inserts of consecutive pieces of the stream. Readings come last and in order of position, so that the largest
 * position among the stored readings tells that everything below it is stored, the other rows too. Likewise the last event
 * that is stored tells that its places, and those of all before it, are.
 */
export function insertsOf(tables: Tables, pieces: readonly EncodedRows[]): RowInsert[] {
  const of = (
    segments: (piece: EncodedRows) => readonly Segment[],
    table: string,
    columns: readonly string[],
  ): RowInsert[] => joined(pieces.flatMap(segments)).map((rows) => ({ table, columns, ...rows }));
  const ofEvents = (kind: 'measurementEvents' | 'chainEvents') => [
    ...of((piece) => piece[kind].ids, tables[kind].ids, eventIdColumns),
    ...of((piece) => piece[kind].times, tables[kind].times, eventTimeColumns),
    ...of((piece) => piece[kind].events, tables[kind].events, eventColumns),
  ];
  return [
    ...of(({ rounds }) => rounds, tables.rounds, roundColumns),
    ...of(({ buckets }) => buckets, tables.halfHourBuckets, bucketColumns),
    ...ofEvents('measurementEvents'),
    ...ofEvents('chainEvents'),
    ...of(({ readings }) => readings, tables.readings, readingColumns),
  ];
}

/** Neighbours as one, as long as they stay within few partitions. */
function joined(segments: readonly Segment[]): { bytes: Buffer; rowCount: number }[] {
  const groups: { parts: Buffer[]; rowCount: number; partitions: Set<number> }[] = [];
  for (const { bytes, rowCount, partitions } of segments) {
    const group = groups.at(-1);
    const together = new Set([...(group?.partitions ?? []), ...partitions]);
    if (group === undefined || together.size > partitionsMax) {
      groups.push({ parts: [bytes], rowCount, partitions: new Set(partitions) });
    } else {
      group.parts.push(bytes);
      group.rowCount += rowCount;
      group.partitions = together;
    }
  }
  return groups.map(({ parts, rowCount }) => ({ bytes: Buffer.concat(parts), rowCount }));
}

function writeReading(text: RowText, reading: AcceptedReading) {
  text.text(reading.installationId);
  text.integer(reading.position);
  text.text(reading.telemetryId);
  text.text(reading.bootId);
  text.integer(reading.sequence);
  text.integer(reading.observedAtMs);
  text.integer(reading.receivedAtMs);
  text.text(reading.counterEpoch);
  text.decimal(reading.cumulativeWorkUnits);
  text.text(reading.provenance);
  text.text(reading.softwareVersion);
  text.text(reading.coreStatus);
  text.integer(reading.rpmMilli);
  text.integer(reading.speedMmPerSecond);
  text.integer(reading.distanceMm);
}

function writeRound(text: RowText, row: RoundRow) {
  text.text(row.installationId);
  text.integer(row.roundId);
  text.integer(row.startMs);
  text.decimal(row.workUnits);
  text.integer(row.position);
}

function writeBucket(text: RowText, row: BucketRow) {
  text.text(row.installationId);
  text.integer(row.startMs);
  text.integer(row.observedRoundCount);
  text.decimal(row.workUnits);
  text.integer(row.readingCount);
  text.integer(row.maxDistanceMm);
  text.integer(row.peakRpmMilli);
  text.integer(row.peakRpmAtMs);
  text.integer(row.peakSpeedMmPerSecond);
  text.integer(row.peakSpeedAtMs);
  text.integer(row.position);
}

function writeEvent(text: RowText, row: EventRow) {
  text.text(row.run);
  text.text(row.category);
  text.text(row.installationId);
  text.integer(row.position);
  text.integer(row.ordinal);
  text.text(row.id);
  text.text(row.type);
  text.integer(row.recordedAtMs);
  text.integer(row.arrivedAtMs);
  text.text(row.event);
}

function writeEventTime(text: RowText, row: EventRow) {
  text.text(row.run);
  text.text(row.category);
  text.text(row.installationId);
  text.integer(row.recordedAtMs);
  text.integer(row.position);
  text.integer(row.ordinal);
}

function writeEventId(text: RowText, row: EventRow) {
  text.text(row.run);
  text.text(row.id);
  text.text(row.installationId);
  text.integer(row.position);
  text.integer(row.ordinal);
  text.integer(row.arrivedAtMs);
}

function cellsOf(row: readonly (string | number | null)[]) {
  return {
    text: (column: number) => row[column] as string,
    // Servers differ in whether they quote 64-bit integers; all of these are safe integers.
    count: (column: number) => Number(row[column]),
  };
}

/** An event from a row of {@link eventColumns}. */
export function eventOfRow(row: readonly (string | number | null)[]): EventRow {
  const { text, count } = cellsOf(row);
  return {
    run: text(0),
    category: text(1),
    installationId: text(2),
    position: count(3),
    ordinal: count(4),
    id: text(5),
    type: text(6),
    recordedAtMs: count(7),
    arrivedAtMs: count(8),
    event: text(9),
  };
}

/** A reading from a row of {@link readingSelectList}. */
export function readingOfRow(row: readonly (string | number | null)[]): AcceptedReading {
  const { text, count } = cellsOf(row);
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
