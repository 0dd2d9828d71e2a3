import { listKeys } from '../../actors/schemas/listKeys.ts';
import { BlockWriter } from './blockWriter.ts';
import type { Column, ResultCell, ResultRow } from './column.ts';
import { sqlString } from './sqlString.ts';

/** Names of a row's values. */
type ColumnKey<Row> = keyof Row & string;

/** A column as it is defined, whatever its values are. */
type ColumnDefinition = Omit<Column<never>, 'write' | 'read'>;

/** Names and types of a table's columns, and a row of most tables: what a block is expected to take. */
const blockHeaderBytes = 768;
const expectedRowBytes = 192;

/** 30 days, which lie in two months at most. */
const partitionMs = 2_592_000_000;

export interface TableOptions<Row> {
  /** Of a table that each generation has: without the number of the generation. */
  readonly name: string;
  /** What its rows are, for whoever queries it. */
  readonly comment?: string;
  /** In the order of the table. The name of a column is that of its value in snake case; that of a time goes without its unit. */
  readonly columns: { readonly [Key in keyof Row]: Column<Row[Key]> };
  /** Of rows with the same key the one of the highest position stays, the last one, or all of them. */
  readonly engine: 'ReplacingMergeTree(position)' | 'ReplacingMergeTree()' | 'MergeTree()';
  /** The month of a time, or each value of a column. One partition when it is left out. */
  readonly partitionBy?: { readonly month: ColumnKey<Row> } | { readonly value: ColumnKey<Row> };
  readonly orderBy: readonly ColumnKey<Row>[];
  /** Columns whose least and largest value is known of each mark, so that marks outside of a range are not read. */
  readonly ranges?: readonly ColumnKey<Row>[];
  /** Rows that one mark stands for; ClickHouse's default (8,192) when it is left out. */
  readonly rowsPerMark?: number;
  /** A part below this size is one file, so that whole rows are read from one place; 10 MiB, as ClickHouse has it, when it is left out. */
  readonly oneFileBelowBytes?: number;
}

/** Some columns of a table. */
export interface ColumnSelection<Row> {
  readonly columns: readonly string[];
  /** What a statement selects: `SELECT ${list} FROM ...`. */
  readonly list: string;
  /** A row of that list. */
  readonly read: (row: ResultRow) => Row;
}

/** A column as ClickHouse stores it. */
export interface StoredColumn {
  readonly name: string;
  readonly type: string;
  readonly codec: string | null;
  readonly comment: string | null;
}

/** A table as it is created, written and read. */
export interface Table<Row> extends ColumnSelection<Row> {
  readonly name: string;
  readonly comment: string | null;
  readonly storedColumns: readonly StoredColumn[];
  /** Column of the time whose month it is partitioned by. */
  readonly timeColumn: string | null;
  /** SQL of a row's partition. */
  readonly partitionExpression: string | null;
  /**
   * A number that rows of the same partition may differ in, but rows of one number have two partitions at most; 0 where the table is not
   * partitioned by time.
   */
  readonly findPeriod: (row: Row) => number;
  /**
   * Rows as a block of ClickHouse's `Native` format.
   *
   * @throws RangeError for a value that its column does not hold.
   */
  readonly encode: (rows: readonly Row[]) => Buffer;
  /** Some of the columns, in the order in which they are named. */
  select<Key extends ColumnKey<Row>>(...keys: readonly Key[]): ColumnSelection<Pick<Row, Key>>;
  /** The statement that creates it where it does not exist, under its own name or another one. */
  createStatement(options?: CreateOptions): string;
}

interface CreateOptions {
  readonly name?: string;
  /** Creates a replicated table on every server of this cluster. */
  readonly cluster?: string | null;
}

/** Defines a table: everything that knows its columns is derived from here. */
export function defineTable<Row>(options: TableOptions<Row>): Table<Row> {
  const {
    name: ownName,
    comment = null,
    columns,
    engine,
    partitionBy,
    orderBy,
    rowsPerMark,
    oneFileBelowBytes,
    ranges = [],
  } = options;
  const settings = [
    rowsPerMark === undefined ? [] : `index_granularity = ${rowsPerMark}`,
    oneFileBelowBytes === undefined ? [] : `min_bytes_for_wide_part = ${oneFileBelowBytes}`,
  ].flat();
  const keys = listKeys<ColumnKey<Row>>(columns);
  const resolveName = (key: ColumnKey<Row>) => nameColumn(key, columns[key]);
  const timeKey = partitionBy !== undefined && 'month' in partitionBy ? partitionBy.month : null;
  const timeColumn = timeKey === null ? null : resolveName(timeKey);
  const valueColumn =
    partitionBy !== undefined && 'value' in partitionBy ? resolveName(partitionBy.value) : null;
  const partitionExpression = timeColumn === null ? valueColumn : `toYYYYMM(${timeColumn})`;
  const writeColumn = <Key extends ColumnKey<Row>>(writer: BlockWriter, key: Key, rows: readonly Row[]) =>
    columns[key].write(
      writer,
      rows.map((row) => row[key]),
    );
  const select = <Key extends ColumnKey<Row>>(selected: readonly Key[]): ColumnSelection<Pick<Row, Key>> => ({
    columns: selected.map(resolveName),
    list: selected.map((key) => writeReadExpression(resolveName(key), columns[key])).join(', '),
    // Each value is that of its key.
    read: (row) =>
      Object.fromEntries(
        selected.map((key, at) => [key, columns[key].read(row[at] as ResultCell)]),
      ) as unknown as Pick<Row, Key>,
  });
  return {
    name: ownName,
    comment,
    // All of a row's values have a column.
    ...(select(keys) as ColumnSelection<unknown> as ColumnSelection<Row>),
    encode: (rows) => {
      const writer = new BlockWriter(blockHeaderBytes + rows.length * expectedRowBytes);
      writer.size(keys.length);
      writer.size(rows.length);
      for (const key of keys) {
        writer.string(resolveName(key));
        writer.string(columns[key].type);
        writeColumn(writer, key, rows);
      }
      return writer.finish();
    },
    storedColumns: keys.map((key) => {
      const { type, codec = null, comment: about = null } = columns[key];
      return { name: resolveName(key), type, codec, comment: about };
    }),
    timeColumn,
    partitionExpression,
    findPeriod: (row) => (timeKey === null ? 0 : Math.floor(Number(row[timeKey]) / partitionMs)),
    select: (...selected) => select(selected),
    createStatement: ({ name = ownName, cluster = null } = {}) => {
      const definitions = [
        ...keys.map((key) => defineColumn(resolveName(key), columns[key])),
        ...ranges.map(resolveName).map((one) => `INDEX ${one}_range ${one} TYPE minmax GRANULARITY 1`),
      ];
      const key = orderBy.map(resolveName).join(', ');
      // ClickHouse shows a key as it was written, so a key of one column has no parentheses, as existing tables have none.
      const sortingKey = orderBy.length === 1 ? key : `(${key})`;
      return [
        `CREATE TABLE IF NOT EXISTS ${name}${onCluster(cluster)} (${definitions.join(', ')})`,
        ` ENGINE = ${cluster === null ? engine : replicate(engine, name)}`,
        partitionExpression === null ? '' : ` PARTITION BY ${partitionExpression}`,
        ` ORDER BY ${sortingKey}`,
        settings.length === 0 ? '' : ` SETTINGS ${settings.join(', ')}`,
        comment === null ? '' : ` COMMENT ${sqlString(comment)}`,
      ].join('');
    },
  };
}

/** Creates a table where it does not exist, under its own name or another one. */
export async function createTable(
  database: { readonly cluster: string | null; command(sql: string): Promise<void> },
  table: Pick<Table<unknown>, 'createStatement' | 'name'>,
  name: string = table.name,
): Promise<void> {
  await database.command(table.createStatement({ name, cluster: database.cluster }));
}

/** The part of a statement that has every server of a cluster run it. */
export function onCluster(cluster: string | null): string {
  return cluster === null ? '' : ` ON CLUSTER ${sqlString(cluster)}`;
}

/** Appends rows to a table, under its own name or another one. Its outcome is unknown when it fails: insert the same rows again. */
export async function insertRows<Row>(
  database: { insertBlocks(table: string, blocks: Buffer): Promise<void> },
  table: Pick<Table<Row>, 'encode' | 'name'>,
  rows: readonly Row[],
  name: string = table.name,
): Promise<void> {
  await database.insertBlocks(name, table.encode(rows));
}

function defineColumn(name: string, { type, codec, comment }: ColumnDefinition): string {
  return [
    `${name} ${type}`,
    comment === undefined ? '' : ` COMMENT ${sqlString(comment)}`,
    codec === undefined ? '' : ` CODEC(${codec})`,
  ].join('');
}

function nameColumn(key: string, { suffix = '' }: Pick<ColumnDefinition, 'suffix'>): string {
  const name = toSnakeCase(key);
  if (!name.endsWith(suffix)) throw new Error(`the name of ${key} does not end in ${suffix}`);
  return name.slice(0, name.length - suffix.length);
}

function writeReadExpression(
  name: string,
  { readExpression }: Pick<ColumnDefinition, 'readExpression'>,
): string {
  return readExpression === undefined ? name : readExpression(name);
}

/** The engine whose parts the servers of a cluster copy from one another. */
export function replicate(engine: string, name: string): string {
  const [, kind, version] = /^(\w+)\((\w*)\)$/.exec(engine) ?? [];
  if (kind === undefined || version === undefined) throw new Error(`${engine} is no engine of these tables`);
  const place = `'/clickhouse/tables/{shard}/{database}/${name}', '{replica}'`;
  return `Replicated${kind}(${version === '' ? place : `${place}, ${version}`})`;
}

function toSnakeCase(key: string): string {
  return key.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}
