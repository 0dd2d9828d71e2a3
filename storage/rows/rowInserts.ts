import type { FoldedRows } from '../tables/foldedRows.ts';
import { rowTables, type WrittenTable } from '../tables/rowTables.ts';

/** ClickHouse refuses an insert into more than 100 partitions, and a period may span two. */
const periodsMax = 50;

export interface RowInsert {
  readonly table: string;
  readonly blocks: Buffer;
  readonly rowCount: number;
}

/** Rows of one table within a few partitions. */
interface Segment {
  readonly blocks: Buffer;
  readonly rowCount: number;
  readonly periods: ReadonlySet<number>;
}

/** Rows of a piece of the stream as bytes, so a few buffers wait for ClickHouse instead of many objects. */
export type EncodedRows = ReturnType<typeof encodeRows>;

/** @param run that the rows belong to. */
export function encodeRows(rows: FoldedRows, run: string) {
  const segments = rowTables.map(({ encode }) =>
    encode(rows, (list, table) => encodeSegments(list, table, run)),
  );
  return {
    /** Segments of each table, in the order of `rowTables`. */
    segments,
    rowCount: countRows(rows),
    byteLength: segments.flat().reduce((sum, { blocks }) => sum + blocks.length, 0),
    /** Whether measurement events are among them, which are stored when they leave memory. */
    hasEvicted: rows.measurementEvents.length > 0,
    throughPosition: rows.throughPosition,
  };
}

function encodeSegments<Row>(
  rows: readonly Row[],
  { findPeriod, encode }: WrittenTable<Row>,
  run: string,
): Segment[] {
  const segments: Segment[] = [];
  let from = 0;
  let periods = new Set<number>();
  const closeAt = (through: number) => {
    if (through > from)
      segments.push({
        blocks: encode(rows.slice(from, through), { run }),
        rowCount: through - from,
        periods,
      });
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
}

/** Number of rows that count for a batch; a row of several tables counts once. */
function countRows({ throughPosition: _, ...lists }: FoldedRows): number {
  return Object.values(lists).reduce((sum, rows) => sum + rows.length, 0);
}

/** The inserts of consecutive pieces of the stream, in order. */
export function buildInserts(pieces: readonly EncodedRows[]): RowInsert[] {
  return rowTables.flatMap(({ definition }, at) =>
    joinSegments(pieces.flatMap(({ segments }) => segments[at] as Segment[])).map((rows) => ({
      table: definition.name,
      ...rows,
    })),
  );
}

/** Joins neighbours as long as they stay within a few periods. */
function joinSegments(segments: readonly Segment[]): Omit<RowInsert, 'table'>[] {
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
  }));
}
