import type { Place } from '../../addresses/place.ts';

/** A column of a table that is shown, and offered as a file. */
export interface DataColumn<Row> {
  /** Heading in the file, with the unit, such as `work_units`. */
  readonly name: string;
  /** Value as in the route's body; null if unknown. */
  readonly value: (row: Row) => string | number | null;
  readonly isText?: boolean;
  /** Page that the value leads to where it is shown. */
  readonly place?: (row: Row) => Place;
}

/** Data behind a chart, in the order of time. */
export interface DataRows<Row> {
  readonly caption: string;
  readonly rows: readonly Row[];
  readonly columns: readonly DataColumn<Row>[];
  /** Name of the column that its image draws; a table without it has no image. */
  readonly drawn?: string;
}

/** Writes CSV by RFC 4180. Unknown values are empty. */
export function writeCsv<Row>({ rows, columns }: DataRows<Row>): string {
  const lines = [
    columns.map(({ name }) => name),
    ...rows.map((row) => columns.map(({ value }) => value(row) ?? '')),
  ];
  return lines.map((cells) => `${cells.map((cell) => quote(String(cell))).join(',')}\r\n`).join('');
}

function quote(cell: string): string {
  return /[",\r\n]/.test(cell) ? `"${cell.replaceAll('"', '""')}"` : cell;
}
