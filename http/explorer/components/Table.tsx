import type { ComponentChildren } from 'preact';
import type { ListName } from '../../addresses/place.ts';

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
  /** The list whose further pages are appended to it (`browser/lists.ts`). */
  readonly list?: ListName;
  readonly rowId?: (row: Row) => string;
  /** Whether phones show each row as a card, with the names of the columns in its cells. */
  readonly hasCards?: boolean;
}

/** A table that scrolls sideways if it is wider than the window. The keyboard can reach it. */
export function Table<Row>({
  label,
  caption,
  columns,
  rows,
  list,
  rowId,
  hasCards = false,
}: TableProps<Row>) {
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
        <tbody id={list && `list-${list}`}>
          {rows.map((row, index) => (
            <tr key={index} id={rowId?.(row)}>
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
