import type { StoredColumn } from './tables/table.ts';

/**
 * SQL of a row's digest over all columns, or over other expressions of the same types. It leaves out who stored the row, and when. Equal sums of digests
 * mean equal rows: a sum does not depend on the order of reading.
 */
export function digestRow(
  { storedColumns }: { readonly storedColumns: readonly StoredColumn[] },
  expressionOf: (column: StoredColumn) => string = ({ name }) => name,
): string {
  const columns = storedColumns.filter(({ name }) => name !== 'run' && name !== 'stored_by');
  const values = columns.map((column) =>
    // A digest over a null would itself be null. No text contains this substitute.
    column.type.includes('Nullable')
      ? `ifNull(toString(${expressionOf(column)}), '\\\\0')`
      : expressionOf(column),
  );
  return `cityHash64(${values.join(', ')})`;
}
