import { type EncodeRows, rowTables } from './rowTables.ts';
import type { StoredRows } from './storedRows.ts';
import type { Tables } from './tables.ts';

/** ClickHouse refuses an insert into more than 100 partitions, and a period may have two. */
const periodsMax = 50;

/** One INSERT: its table, and its rows in the order of `columns`, as `TabSeparated` text. */
export interface RowInsert {
  readonly table: string;
  readonly columns: readonly string[];
  readonly text: string;
  readonly rowCount: number;
}

/** Rows of one table and of few partitions, by the periods of the rows. */
interface Segment {
  readonly text: string;
  readonly rowCount: number;
  readonly periods: ReadonlySet<number>;
}

/** A piece of the stream's rows as text: what waits for ClickHouse is a few strings, not many objects. */
export interface EncodedRows {
  /** Those of each table, in the order of `rowTables`. */
  readonly segments: readonly (readonly Segment[])[];
  readonly rowCount: number;
  readonly byteLength: number;
  readonly throughPosition: number;
}

export function encodeRows(rows: StoredRows): EncodedRows {
  const segments = rowTables.map(({ encode }) => encode(rows, encodeSegments));
  return {
    segments,
    rowCount: countRows(rows),
    byteLength: segments.flat().reduce((sum, { text }) => sum + Buffer.byteLength(text), 0),
    throughPosition: rows.throughPosition,
  };
}

const encodeSegments: EncodeRows<Segment[]> = (rows, { findPeriod, format }) => {
  const segments: Segment[] = [];
  let lines: string[] = [];
  let periods = new Set<number>();
  const close = () => {
    if (lines.length > 0) segments.push({ text: lines.join(''), rowCount: lines.length, periods });
    lines = [];
    periods = new Set();
  };
  for (const row of rows) {
    const period = findPeriod(row);
    if (!periods.has(period) && periods.size === periodsMax) close();
    periods.add(period);
    lines.push(format(row));
  }
  close();
  return segments;
};

/** Rows that make a batch full, each once in whatever tables it is. */
function countRows({ throughPosition: _, ...lists }: StoredRows): number {
  return Object.values(lists).reduce((sum, rows) => sum + rows.length, 0);
}

/** The inserts of consecutive pieces of the stream, in the order in which they are made. */
export function buildInserts(tables: Tables, pieces: readonly EncodedRows[]): RowInsert[] {
  return joinByTable(pieces).flatMap(({ table: { resolveName, definition }, segments }) =>
    segments.map(({ text, rowCount }) => ({
      table: resolveName(tables),
      columns: definition.columns,
      text,
      rowCount,
    })),
  );
}

function joinByTable(pieces: readonly EncodedRows[]) {
  return rowTables.map((table, at) => ({
    table,
    segments: joinSegments(pieces.flatMap(({ segments }) => segments[at] ?? [])),
  }));
}

/** Neighbours as one, as long as they stay within few periods. */
function joinSegments(segments: readonly Segment[]): Segment[] {
  const groups: Segment[][] = [];
  let together = new Set<number>();
  for (const segment of segments) {
    together = new Set([...together, ...segment.periods]);
    if (groups.length === 0 || together.size > periodsMax) {
      groups.push([]);
      together = new Set(segment.periods);
    }
    groups.at(-1)?.push(segment);
  }
  return groups.map((group) => ({
    text: group.map(({ text }) => text).join(''),
    rowCount: group.reduce((sum, { rowCount }) => sum + rowCount, 0),
    periods: new Set(group.flatMap(({ periods }) => [...periods])),
  }));
}
