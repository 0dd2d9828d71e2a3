import type { EventRow, StoredRows } from '../actors/storedRows.ts';
import { createRowText } from './rowText.ts';
import { chainCheckpoints, chainSettlements } from './tables/chainSettlements.ts';
import { chainEvents, type EventTableDefinitions, measurementEvents } from './tables/events.ts';
import { halfHourBuckets } from './tables/halfHourBuckets.ts';
import { ownerActivity } from './tables/ownerActivity.ts';
import { readings } from './tables/readings.ts';
import { rounds } from './tables/rounds.ts';
import type { ColumnSelection, Table } from './tables/table.ts';
import type { EventTables, Tables } from './tables.ts';

/** ClickHouse refuses an insert into more than 100 partitions, and a period may have two. */
const periodsMax = 50;

/** One INSERT: its table, and its rows in the order of `columns`, as `TabSeparated` text. */
export interface RowInsert {
  readonly table: string;
  readonly columns: readonly string[];
  readonly bytes: Buffer;
  readonly rowCount: number;
}

/** Rows of one table and of few partitions, by the periods of the rows. */
interface Segment {
  readonly bytes: Uint8Array;
  readonly rowCount: number;
  readonly periods: ReadonlySet<number>;
}

/** A piece of the stream's rows as text: what waits for ClickHouse is a few buffers, not many objects. */
export interface EncodedRows {
  readonly rounds: readonly Segment[];
  readonly buckets: readonly Segment[];
  readonly measurementEvents: EncodedEvents;
  readonly chainEvents: EncodedEvents;
  readonly ownerActivity: readonly Segment[];
  readonly settlements: readonly Segment[];
  readonly checkpoints: readonly Segment[];
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

  function encodeSegments<Row>(rows: readonly Row[], { findPeriod, write }: Table<Row>): Segment[] {
    const segments: Segment[] = [];
    let rowCount = 0;
    let periods = new Set<number>();
    let newest: number | null = null;
    const close = () => {
      if (rowCount > 0) segments.push({ bytes: text.take(), rowCount, periods });
      rowCount = 0;
      periods = new Set();
    };
    for (const row of rows) {
      const period = findPeriod(row);
      if (period !== newest) {
        if (!periods.has(period) && periods.size === periodsMax) close();
        periods.add(period);
        newest = period;
      }
      write(text, row);
      rowCount++;
    }
    close();
    return segments;
  }

  function encodeEvents(rows: readonly EventRow[], tables: EventTableDefinitions): EncodedEvents {
    return {
      ids: encodeSegments(rows, tables.ids),
      times: encodeSegments(rows, tables.times),
      events: encodeSegments(rows, tables.events),
    };
  }

  return (rows) => {
    const encoded = {
      rounds: encodeSegments(rows.rounds, rounds),
      buckets: encodeSegments(rows.buckets, halfHourBuckets),
      measurementEvents: encodeEvents(rows.measurementEvents, measurementEvents),
      chainEvents: encodeEvents(rows.chainEvents, chainEvents),
      ownerActivity: encodeSegments(rows.ownerActivity, ownerActivity),
      settlements: encodeSegments(rows.settlements, chainSettlements),
      checkpoints: encodeSegments(rows.checkpoints, chainCheckpoints),
      readings: encodeSegments(rows.readings, readings),
    };
    const segments = [
      ...encoded.rounds,
      ...encoded.buckets,
      ...Object.values(encoded.measurementEvents).flat(),
      ...Object.values(encoded.chainEvents).flat(),
      ...encoded.ownerActivity,
      ...encoded.settlements,
      ...encoded.checkpoints,
      ...encoded.readings,
    ];
    return {
      ...encoded,
      rowCount: countRows(rows),
      byteLength: segments.reduce((sum, { bytes }) => sum + bytes.length, 0),
      throughPosition: rows.throughPosition,
    };
  };
}

/** Rows that make a batch full, each once in whatever tables it is. */
function countRows({ throughPosition: _, ...lists }: StoredRows): number {
  return Object.values(lists).reduce((sum, rows) => sum + rows.length, 0);
}

/**
 * The inserts of consecutive pieces of the stream. Readings come last and in order of position, so that the largest
 * position among the stored readings shows that everything below it is stored, the other rows too. Likewise the last event
 * that is stored shows that its indexes, and those of all before it, are.
 */
export function buildInserts(tables: Tables, pieces: readonly EncodedRows[]): RowInsert[] {
  const of = (
    segments: (piece: EncodedRows) => readonly Segment[],
    table: string,
    { columns }: Pick<ColumnSelection<unknown>, 'columns'>,
  ): RowInsert[] =>
    joinSegments(pieces.flatMap(segments)).map(({ bytes, rowCount }) => ({
      table,
      columns,
      bytes,
      rowCount,
    }));
  const ofEvents = (kind: 'measurementEvents' | 'chainEvents', definitions: EventTableDefinitions) => [
    ...of((piece) => piece[kind].ids, tables[kind].ids, definitions.ids),
    ...of((piece) => piece[kind].times, tables[kind].times, definitions.times),
    ...of((piece) => piece[kind].events, tables[kind].events, definitions.events),
  ];
  return [
    ...of((piece) => piece.rounds, tables.rounds, rounds),
    ...of((piece) => piece.buckets, tables.halfHourBuckets, halfHourBuckets),
    ...ofEvents('measurementEvents', measurementEvents),
    ...ofEvents('chainEvents', chainEvents),
    ...of((piece) => piece.ownerActivity, tables.ownerActivity, ownerActivity),
    ...of((piece) => piece.settlements, tables.settlements, chainSettlements),
    ...of((piece) => piece.checkpoints, tables.checkpoints, chainCheckpoints),
    ...of((piece) => piece.readings, tables.readings, readings),
  ];
}

/** Consecutive pieces of the stream as one. */
export function joinEncodedRows(pieces: readonly EncodedRows[]): EncodedRows {
  const of = (segments: (piece: EncodedRows) => readonly Segment[]) => joinSegments(pieces.flatMap(segments));
  const ofEvents = (kind: 'measurementEvents' | 'chainEvents') => ({
    ids: of((piece) => piece[kind].ids),
    times: of((piece) => piece[kind].times),
    events: of((piece) => piece[kind].events),
  });
  return {
    rounds: of((piece) => piece.rounds),
    buckets: of((piece) => piece.buckets),
    measurementEvents: ofEvents('measurementEvents'),
    chainEvents: ofEvents('chainEvents'),
    ownerActivity: of((piece) => piece.ownerActivity),
    settlements: of((piece) => piece.settlements),
    checkpoints: of((piece) => piece.checkpoints),
    readings: of((piece) => piece.readings),
    rowCount: pieces.reduce((sum, { rowCount }) => sum + rowCount, 0),
    byteLength: pieces.reduce((sum, { byteLength }) => sum + byteLength, 0),
    throughPosition: pieces.at(-1)?.throughPosition ?? 0,
  };
}

/** Neighbours as one, as long as they stay within few periods. */
function joinSegments(segments: readonly Segment[]): (Segment & { readonly bytes: Buffer })[] {
  const groups: { parts: Uint8Array[]; rowCount: number; periods: Set<number> }[] = [];
  for (const { bytes, rowCount, periods } of segments) {
    const group = groups.at(-1);
    const together = new Set([...(group?.periods ?? []), ...periods]);
    if (group === undefined || together.size > periodsMax) {
      groups.push({ parts: [bytes], rowCount, periods: new Set(periods) });
    } else {
      group.parts.push(bytes);
      group.rowCount += rowCount;
      group.periods = together;
    }
  }
  return groups.map(({ parts, rowCount, periods }) => ({ bytes: Buffer.concat(parts), rowCount, periods }));
}
