import type { ComponentChildren } from 'preact';

interface Column<Row> {
  readonly name: string;
  /** Numbers are aligned on the right. */
  readonly isNumber?: boolean;
  readonly cell: (row: Row) => ComponentChildren;
}

interface TableProps<Row> {
  readonly label: string;
  readonly caption?: string;
  readonly columns: readonly Column<Row>[];
  readonly rows: readonly Row[];
  /** Whether phones show each row as a card, with the names of the columns in its cells. */
  readonly hasCards?: boolean;
}

/** A table that scrolls sideways if it is wider than the window. The keyboard can reach it. */
export function Table<Row>({ label, caption, columns, rows, hasCards = false }: TableProps<Row>) {
  const classOf = ({ isNumber = false }: Column<Row>) => (isNumber ? 'number' : undefined);
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: a scrolling region must be reachable by keyboard
    <section class={hasCards ? 'scroll cards' : 'scroll'} aria-label={`Table: ${label}`} tabIndex={0}>
      <table>
        {caption !== undefined && <caption>{caption}</caption>}
        <thead>
          <tr>
            {columns.map((column) => (
              <th key={column.name} scope="col" class={classOf(column)}>
                {column.name}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((row, index) => (
            <tr key={index}>
              {columns.map((column) => (
                <td key={column.name} data-label={hasCards ? column.name : undefined} class={classOf(column)}>
                  {column.cell(row)}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  );
}
