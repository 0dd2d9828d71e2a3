import { type EncodeRows, rowTables } from './rowTables.ts';
import type { StoredRows } from './storedRows.ts';
import { createRowText } from './tables/rowText.ts';
import type { Tables } from './tables.ts';

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
  /** Those of each table, in the order of `rowTables`. */
  readonly segments: readonly (readonly Segment[])[];
  readonly rowCount: number;
  readonly byteLength: number;
  readonly throughPosition: number;
}

/** Encodes pieces of the stream one after another. */
export function createRowEncoder(): (rows: StoredRows) => EncodedRows {
  const text = createRowText();

  const encodeSegments: EncodeRows<Segment[]> = (rows, { findPeriod, write }) => {
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
  };

  return (rows) => {
    const segments = rowTables.map(({ encode }) => encode(rows, encodeSegments));
    return {
      segments,
      rowCount: countRows(rows),
      byteLength: segments.flat().reduce((sum, { bytes }) => sum + bytes.length, 0),
      throughPosition: rows.throughPosition,
    };
  };
}

/** Rows that make a batch full, each once in whatever tables it is. */
function countRows({ throughPosition: _, ...lists }: StoredRows): number {
  return Object.values(lists).reduce((sum, rows) => sum + rows.length, 0);
}

/** The inserts of consecutive pieces of the stream, in the order in which they are made. */
export function buildInserts(tables: Tables, pieces: readonly EncodedRows[]): RowInsert[] {
  return joinByTable(pieces).flatMap(({ table: { resolveName, definition }, segments }) =>
    segments.map(({ bytes, rowCount }) => ({
      table: resolveName(tables),
      columns: definition.columns,
      bytes,
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
