import { type EncodeRows, rowTables } from './rowTables.ts';
import type { StoredRows } from './storedRows.ts';
import type { Tables } from './tables.ts';

/** ClickHouse refuses an insert into more than 100 partitions, and a period may have two. */
const periodsMax = 50;

/** One INSERT. */
export interface RowInsert {
  readonly table: string;
  readonly blocks: Buffer;
  readonly rowCount: number;
}

/** Rows of one table and of few partitions, by the periods of the rows. */
interface Segment {
  readonly blocks: Buffer;
  readonly rowCount: number;
  readonly periods: ReadonlySet<number>;
}

/** A piece of the stream's rows as bytes: what waits for ClickHouse is a few buffers, not many objects. */
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
    byteLength: segments.flat().reduce((sum, { blocks }) => sum + blocks.length, 0),
    throughPosition: rows.throughPosition,
  };
}

const encodeSegments: EncodeRows<Segment[]> = (rows, { findPeriod, encode }) => {
  const segments: Segment[] = [];
  let from = 0;
  let periods = new Set<number>();
  const closeAt = (through: number) => {
    if (through > from)
      segments.push({ blocks: encode(rows.slice(from, through)), rowCount: through - from, periods });
    from = through;
    periods = new Set();
  };
  for (const [at, row] of rows.entries()) {
    const period = findPeriod(row);
    if (!periods.has(period) && periods.size === periodsMax) closeAt(at);
    periods.add(period);
  }
  closeAt(rows.length);
  return segments;
};

/** Rows that make a batch full, each once in whatever tables it is. */
function countRows({ throughPosition: _, ...lists }: StoredRows): number {
  return Object.values(lists).reduce((sum, rows) => sum + rows.length, 0);
}

/** The inserts of consecutive pieces of the stream, in the order in which they are made. */
export function buildInserts(tables: Tables, pieces: readonly EncodedRows[]): RowInsert[] {
  return joinByTable(pieces).flatMap(({ table: { resolveName }, segments }) =>
    segments.map(({ blocks, rowCount }) => ({ table: resolveName(tables), blocks, rowCount })),
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
    blocks: Buffer.concat(group.map(({ blocks }) => blocks)),
    rowCount: group.reduce((sum, { rowCount }) => sum + rowCount, 0),
    periods: new Set(group.flatMap(({ periods }) => [...periods])),
  }));
}
