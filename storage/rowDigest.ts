import type { StoredColumn } from './tables/table.ts';

/**
 * SQL of a digest of a row, from all of its columns, or from other expressions of the same types in their place. Rows are the same where their
 * sums of it are: a sum does not depend on the order in which a server reads them.
 */
export function digestRow(
  { storedColumns }: { readonly storedColumns: readonly StoredColumn[] },
  expressionOf: (column: StoredColumn) => string = ({ name }) => name,
): string {
  const values = storedColumns.map((column) =>
    // A digest has no value where one of them is null. No text holds this one.
    column.type.includes('Nullable')
      ? `ifNull(toString(${expressionOf(column)}), '\\\\0')`
      : expressionOf(column),
  );
  return `cityHash64(${values.join(', ')})`;
}
