import { useEffect, useRef, useState } from 'preact/hooks';
import { formatInteger } from '../format/numbers.ts';
import { usePage, usePrinting } from './pageContext.ts';
import { Table } from './Table.tsx';

interface Column<Row> {
  /** Column heading, with the unit. */
  readonly name: string;
  /** Value as in the route's body; null if unknown. */
  readonly value: (row: Row) => string | number | null;
  readonly isText?: boolean;
}

interface DataTableProps<Row> {
  readonly caption: string;
  readonly rows: readonly Row[];
  readonly columns: readonly Column<Row>[];
  readonly fileName: string;
}

/** The server does not render longer tables: they would be most of the page, and few are opened. */
const renderedRowsMax = 300;

/** In print a table is open, since paper has no pointer. Longer tables stay closed, or they would fill the paper. */
const printedRowsMax = 60;

/** The data behind a chart, as a table and as a file, in the units of the route. */
export function DataTable<Row>(props: DataTableProps<Row>) {
  const { rows, columns, fileName } = props;
  const { actions } = usePage();
  const [isOpen, setOpen] = useState(false);
  const details = useRef<HTMLDetailsElement>(null);
  // The visitor may have opened it before the script started.
  useEffect(() => setOpen(details.current?.open ?? false), []);
  const isPrinting = usePrinting();
  const isPrinted = isPrinting && rows.length <= printedRowsMax;
  const isRendered = actions === null ? rows.length <= renderedRowsMax : isOpen || isPrinted;
  return (
    <div class="data">
      <details
        ref={details}
        open={isOpen || isPrinted}
        onToggle={(event) => isPrinting || setOpen(event.currentTarget.open)}
      >
        <summary>Table</summary>
        {isRendered && <Rows {...props} />}
        {actions === null && !isRendered && (
          <p>It has {formatInteger(rows.length)} rows, and needs JavaScript.</p>
        )}
      </details>
      {actions !== null && (
        <button
          type="button"
          class="plain"
          onClick={() => actions.download(fileName, 'text/csv;charset=utf-8', toCsv(rows, columns))}
        >
          CSV<span class="visually-hidden"> of this table</span>
        </button>
      )}
    </div>
  );
}

function Rows<Row>({ caption, rows, columns }: DataTableProps<Row>) {
  const shown = columns.map(({ name, value, isText = false }) => ({
    name,
    isNumber: !isText,
    cell: (row: Row) => formatCell(value(row), isText),
  }));
  return <Table label={caption} caption={caption} rows={rows} columns={shown} />;
}

function formatCell(value: string | number | null, isText: boolean): string {
  if (value === null) return 'unknown';
  return isText ? String(value) : formatInteger(value);
}

/** CSV by RFC 4180. Unknown values are empty. */
function toCsv<Row>(rows: readonly Row[], columns: readonly Column<Row>[]): string {
  const lines = [
    columns.map(({ name }) => name),
    ...rows.map((row) => columns.map(({ value }) => value(row) ?? '')),
  ];
  return lines.map((cells) => `${cells.map((cell) => quote(String(cell))).join(',')}\r\n`).join('');
}

function quote(cell: string): string {
  return /[",\r\n]/.test(cell) ? `"${cell.replaceAll('"', '""')}"` : cell;
}
