import type { Database, ResultRow } from '../database.ts';
import { createRowText, type RowText } from '../rowText.ts';
import type { Column } from './column.ts';
import { type AnyColumn, compileGetter, compileReader, compileWriter } from './compileRows.ts';

/** Names of a row's values. */
type ColumnKey<Row> = keyof Row & string;

/** Rows are partitioned by 30 days of their time; integer arithmetic, which every server version does alike. */
const partitionMs = 2_592_000_000;

export interface TableOptions<Row> {
  /** Of a table that each generation has: without the number of the generation. */
  readonly name: string;
  /** In the order of the table. The name of a column is that of its value in snake case. */
  readonly columns: { readonly [Key in ColumnKey<Row>]-?: Column<Row[Key]> };
  /** Of rows with the same key the one of the highest position stays, the last one, or all of them. */
  readonly engine: 'ReplacingMergeTree(position)' | 'ReplacingMergeTree()' | 'MergeTree()';
  /** 30 days of a time (epoch milliseconds), or each value of a column. One partition when it is left out. */
  readonly partitionBy?: { readonly time: ColumnKey<Row> } | { readonly value: ColumnKey<Row> };
  readonly orderBy: readonly ColumnKey<Row>[];
  /** Rows that one mark stands for; ClickHouse's default (8,192) when it is left out. */
  readonly rowsPerMark?: number;
}

/** Some columns of a table. */
export interface ColumnSelection<Row> {
  /** Names of the columns. */
  readonly columns: readonly string[];
  /** The same as a statement writes them: `SELECT ${list} FROM ...`. */
  readonly list: string;
  /** A row of that list. */
  readonly read: (row: ResultRow) => Row;
}

/** A table as it is created, written and read. */
export interface Table<Row> extends ColumnSelection<Row> {
  readonly name: string;
  /** By name of the column. */
  readonly types: ReadonlyMap<string, string>;
  /** Column of the time that it is partitioned by. */
  readonly timeColumn: string | null;
  /** SQL of a row's partition. */
  readonly partitionExpression: string | null;
  /** Number of a row's partition, where it is partitioned by time; otherwise 0. */
  readonly findPartition: (row: Row) => number;
  /** Writes one row of `TabSeparated` text. */
  readonly write: (text: RowText, row: Row) => void;
  /** Some of the columns, in the order in which they are named. */
  select<Key extends ColumnKey<Row>>(...keys: readonly Key[]): ColumnSelection<Pick<Row, Key>>;
  /** The statement that creates it where it does not exist, under its own name or another one. */
  createStatement(name?: string): string;
}

/** Defines a table: everything that knows its columns is derived from here. */
export function defineTable<Row>(options: TableOptions<Row>): Table<Row> {
  const { name: ownName, columns, engine, partitionBy, orderBy, rowsPerMark } = options;
  const entries = Object.entries<AnyColumn>(columns);
  const types = new Map(entries.map(([key, { type }]) => [toSnakeCase(key), type]));
  const timeKey = partitionBy !== undefined && 'time' in partitionBy ? partitionBy.time : null;
  const partitionExpression = partitionBy === undefined ? null : writePartitionExpression(partitionBy);
  return {
    name: ownName,
    columns: [...types.keys()],
    list: [...types.keys()].join(', '),
    read: compileReader(entries),
    write: compileWriter(entries),
    types,
    timeColumn: timeKey === null ? null : toSnakeCase(timeKey),
    partitionExpression,
    findPartition: timeKey === null ? () => 0 : compilePartition(timeKey),
    select: (...keys) => {
      const names = keys.map(toSnakeCase);
      return {
        columns: names,
        list: names.join(', '),
        read: compileReader(keys.map((key) => [key, columns[key]])),
      };
    },
    createStatement: (name = ownName) => {
      const definitions = [...types].map(([column, type]) => `${column} ${type}`);
      const key = orderBy.map(toSnakeCase).join(', ');
      // ClickHouse shows a key as it was written, so a key of one column has no parentheses, as existing tables have none.
      const sortingKey = orderBy.length === 1 ? key : `(${key})`;
      return [
        `CREATE TABLE IF NOT EXISTS ${name} (${definitions.join(', ')}) ENGINE = ${engine}`,
        partitionExpression === null ? '' : ` PARTITION BY ${partitionExpression}`,
        ` ORDER BY ${sortingKey}`,
        rowsPerMark === undefined ? '' : ` SETTINGS index_granularity = ${rowsPerMark}`,
      ].join('');
    },
  };
}

/** Appends rows to a table, under its own name or another one. Its outcome is unknown when it fails: insert the same rows again. */
export async function insertRows<Row>(
  database: Pick<Database, 'insertBytes'>,
  table: Table<Row>,
  rows: readonly Row[],
  name: string = table.name,
): Promise<void> {
  const text = createRowText();
  for (const row of rows) table.write(text, row);
  await database.insertBytes(name, table.columns, text.take());
}

function compilePartition<Row>(timeKey: string): (row: Row) => number {
  const timeMs = compileGetter<Row, number>(timeKey);
  return (row) => Math.trunc(timeMs(row) / partitionMs);
}

function writePartitionExpression<Row>(partitionBy: NonNullable<TableOptions<Row>['partitionBy']>): string {
  return 'time' in partitionBy
    ? `intDiv(${toSnakeCase(partitionBy.time)}, ${partitionMs})`
    : toSnakeCase(partitionBy.value);
}

function toSnakeCase(key: string): string {
  return key.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}
