import { formatInteger } from '../format/numbers.ts';
import type { DataColumn, DataRows } from '../tables/dataTable.ts';
import { To } from './Linked.tsx';
import { Table } from './Table.tsx';

/** Longer tables are not in the page: they would be most of it, and few are opened. Their file has all rows. */
const renderedRowsMax = 400;

interface DataTableProps<Row> {
  readonly id: string;
  readonly table: DataRows<Row>;
  readonly file: string;
}

/** The data behind a chart, as a table and as a file, in the units of the route. */
export function DataTable<Row>({ id, table, file }: DataTableProps<Row>) {
  const { caption, rows, columns } = table;
  return (
    <div class="data">
      {rows.length <= renderedRowsMax && (
        <details id={`table-${id}`}>
          <summary>Table</summary>
          <Table label={caption} caption={caption} rows={rows} columns={columns.map(toCells)} />
        </details>
      )}
      <a href={file}>
        CSV<span class="visually-hidden"> of {caption}</span>
      </a>
      <a href={file.replace('.csv', '.svg')}>
        Image<span class="visually-hidden"> of {caption}</span>
      </a>
    </div>
  );
}

function toCells<Row>({ name, value, isText = false, place }: DataColumn<Row>) {
  return {
    name: name.replaceAll('_', ' '),
    isNumber: !isText,
    cell: (row: Row) => {
      const text = formatCell(value(row), isText);
      return place === undefined ? text : <To text={text} place={place(row)} />;
    },
  };
}

function formatCell(value: string | number | null, isText: boolean): string {
  if (value === null) return 'unknown';
  if (!isText) return formatInteger(value);
  return String(value).replace(/^(\d{4}-\d\d-\d\d)T(\d\d:\d\d):00(?:\.000)?Z$/, '$1 $2');
}
