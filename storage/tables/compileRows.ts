import type { Column, ResultCell, ResultRow } from './column.ts';
import type { RowText } from './rowText.ts';

/**
 * The functions below are compiled from a table's columns, as if each had been written out by hand: millions of rows of a replay go
 * through them, and a loop over the columns costs a third more per row. Only names of values become source text, and those are
 * written in this program.
 */

/** A column of any values. */
export interface AnyColumn extends Omit<Column<never>, 'read'> {
  readonly read: (cell: ResultCell) => unknown;
}

/** Columns by the names of their values, in order. */
type ColumnEntries = readonly (readonly [key: string, column: AnyColumn])[];

const identifier = /^[a-zA-Z]+$/;

/** Writes one row as `TabSeparated` text. */
export function compileWriter<Row>(entries: ColumnEntries): (text: RowText, row: Row) => void {
  const writes = entries.map((_, at) => `write${at}`);
  const statements = entries.map(([key], at) => `${writes[at]}(text, row.${checkedKey(key)});`);
  return new Function(...writes, `return (text, row) => { ${statements.join(' ')} text.endRow(); };`)(
    ...entries.map(([, { write }]) => write),
  );
}

/** Makes an object from a row of these columns; all of its objects have one shape. */
export function compileReader<Row>(entries: ColumnEntries): (row: ResultRow) => Row {
  const reads = entries.map((_, at) => `read${at}`);
  const properties = entries.map(([key], at) => `${checkedKey(key)}: ${reads[at]}(cells[${at}])`);
  return new Function(...reads, `return (cells) => ({ ${properties.join(', ')} });`)(
    ...entries.map(([, { read }]) => read),
  );
}

/** Gives one value of a row. */
export function compileGetter<Row, Value>(key: string): (row: Row) => Value {
  return new Function(`return (row) => row.${checkedKey(key)};`)();
}

function checkedKey(key: string): string {
  if (!identifier.test(key)) throw new Error(`${key} cannot be the name of a column's value`);
  return key;
}
