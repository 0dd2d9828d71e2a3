import { listKeys } from '../../actors/schemas/listKeys.ts';
import { BlockWriter } from './blockWriter.ts';
import { type Column, type ResultCell, type ResultRow, time } from './column.ts';
import { sqlString } from './sqlString.ts';

type ColumnKey<Row> = keyof Row & string;

type ColumnDefinition = Omit<Column<never>, 'write' | 'read'>;

/** Estimated sizes of a block's header (names and types of columns) and of a row. */
const blockHeaderBytes = 768;
const expectedRowBytes = 192;

/** Marks that share a Bloom filter: it is read for all of them at once, and one mark costs as much. */
const marksOfFilter = 8;

/** 30 days, which span at most two months. */
const partitionMs = 2_592_000_000;

interface TableOptions<Row, Given = Row> {
  readonly name: string;
  /** Meaning of a row, for ad-hoc queries. */
  readonly comment?: string;
  /** In the order of the table. A column has its value's name in snake case, without the unit of a time. */
  readonly columns: { readonly [Key in keyof Row]: Column<Row[Key]> };
  /** Among rows with the same key, keeps the highest position, the last one, or all. */
  readonly engine: 'ReplacingMergeTree(position)' | 'ReplacingMergeTree()' | 'MergeTree()';
  /** A partition for each value of a column, each month of a time, or each of both; if omitted, a single one. */
  readonly partitionBy?: { readonly value?: ColumnKey<Row>; readonly month?: ColumnKey<Row> };
  readonly orderBy: readonly ColumnKey<Row>[];
  /** Columns whose value is given once for all rows that are stored together. */
  readonly shared?: readonly ColumnKey<Row>[];
  /** Columns that repeat another one; only the other one is given. */
  readonly repeats?: { readonly [Key in ColumnKey<Row>]?: ColumnKey<Given> };
  /** Columns with an index of each mark's least and largest value, so that reads skip marks outside a range. */
  readonly ranges?: readonly ColumnKey<Row>[];
  /** Columns with a Bloom filter of the values of some marks, so that reads of one value skip most marks. */
  readonly filters?: readonly ColumnKey<Row>[];
  /** Rows of one mark; if omitted, ClickHouse's default (8,192). */
  readonly rowsPerMark?: number;
  /** A smaller part is a single file, so whole rows are read from one place. If omitted, ClickHouse's default (10 MiB). */
  readonly oneFileBelowBytes?: number;
}

export interface ColumnSelection<Row> {
  readonly columns: readonly string[];
  /** Select list: `SELECT ${list} FROM ...`. */
  readonly list: string;
  readonly read: (row: ResultRow) => Row;
}

interface StoredColumn {
  readonly name: string;
  readonly type: string;
  readonly comment: string | null;
}

/** `Given` is a row without the values that rows share or that repeat another one. Rows are given and read like that. */
export interface Table<Row, Given = Row> extends ColumnSelection<Given> {
  readonly name: string;
  readonly comment: string | null;
  readonly storedColumns: readonly StoredColumn[];
  /** Its first time, by whose days rows are compared; null without. */
  readonly timeColumn: string | null;
  /** Columns that tell what a row is about, if a run may store it more than once; null if it stores it once. */
  readonly identity: readonly string[] | null;
  /**
   * Number of a row's period. Rows of one period lie in at most two partitions. 0 for a table that is not partitioned by time.
   */
  readonly findPeriod: (row: Given) => number;
  /**
   * Encodes rows as a block of ClickHouse's `Native` format.
   *
   * @param shared values that all rows have.
   * @throws RangeError for a value that its column cannot hold.
   */
  readonly encode: (rows: readonly Given[], shared?: Partial<Row>) => Buffer;
  /** Selects some of the columns, in the given order. */
  select<Key extends ColumnKey<Row>>(...keys: readonly Key[]): ColumnSelection<Pick<Row, Key>>;
  /**
   * Writes the statement that creates the table unless it exists.
   *
   * @param cluster on whose servers it is replicated; null for a single server.
   */
  createStatement(cluster?: string | null): string;
}

/** Defines a table, and derives everything that depends on its columns. */
export function defineTable<Row extends Given, Given = Row>(
  options: TableOptions<Row, Given>,
): Table<Row, Given> {
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
    filters = [],
    shared: sharedKeys = [],
    repeats = {} as NonNullable<TableOptions<Row, Given>['repeats']>,
  } = options;
  const settings = [
    rowsPerMark === undefined ? [] : `index_granularity = ${rowsPerMark}`,
    oneFileBelowBytes === undefined ? [] : `min_bytes_for_wide_part = ${oneFileBelowBytes}`,
  ].flat();
  const keys = listKeys<ColumnKey<Row>>(columns);
  const resolveName = (key: ColumnKey<Row>) => nameColumn(key, columns[key]);
  const timeKey = partitionBy?.month ?? null;
  const firstTime = keys.find((key) => columns[key].type === time.type);
  const partitions = [
    ...(partitionBy?.value === undefined ? [] : [resolveName(partitionBy.value)]),
    ...(timeKey === null ? [] : [`toYYYYMM(${resolveName(timeKey)})`]),
  ];
  const partitionExpression = partitions.length > 1 ? `(${partitions.join(', ')})` : (partitions[0] ?? null);
  const writeColumn = <Key extends ColumnKey<Row>>(
    writer: BlockWriter,
    key: Key,
    rows: readonly Partial<Row>[],
    shared: Partial<Row>,
  ) => {
    const from = (repeats[key] ?? key) as ColumnKey<Row> as Key;
    columns[key].write(
      writer,
      rows.map((row) => {
        const value = shared[key] ?? row[from];
        // A nullable column would store it as known.
        if (value === undefined) throw new RangeError(`a row of ${ownName} has no value of ${key}`);
        return value;
      }),
    );
  };
  const select = <Key extends ColumnKey<Row>>(selected: readonly Key[]): ColumnSelection<Pick<Row, Key>> => ({
    columns: selected.map(resolveName),
    list: selected
      .map((key) => columns[key].readExpression?.(resolveName(key)) ?? resolveName(key))
      .join(', '),
    // The value at each key is the one its column reads.
    read: (row) =>
      Object.fromEntries(
        selected.map((key, at) => [key, columns[key].read(row[at] as ResultCell)]),
      ) as unknown as Pick<Row, Key>,
  });
  return {
    name: ownName,
    comment,
    // Each value of a given row has a column.
    ...(select(
      keys.filter((key) => !sharedKeys.includes(key) && repeats[key] === undefined),
    ) as ColumnSelection<unknown> as ColumnSelection<Given>),
    encode: (rows, shared = {}) => {
      const writer = new BlockWriter(blockHeaderBytes + rows.length * expectedRowBytes);
      writer.size(keys.length);
      writer.size(rows.length);
      for (const key of keys) {
        writer.string(resolveName(key));
        writer.string(columns[key].type);
        writeColumn(writer, key, rows as readonly unknown[] as readonly Partial<Row>[], shared);
      }
      return writer.finish();
    },
    storedColumns: keys.map((key) => {
      const { type, comment: about = null } = columns[key];
      return { name: resolveName(key), type, comment: about };
    }),
    timeColumn: firstTime === undefined ? null : resolveName(firstTime),
    identity: (orderBy as readonly string[]).includes('storedBy')
      ? orderBy.filter((key) => key !== 'run' && key !== 'storedBy').map(resolveName)
      : null,
    findPeriod: (row) =>
      timeKey === null ? 0 : Math.floor(Number((row as Given & Partial<Row>)[timeKey]) / partitionMs),
    select: (...selected) => select(selected),
    createStatement: (cluster = null) => {
      const definitions = [
        ...keys.map((key) => defineColumn(resolveName(key), columns[key])),
        ...ranges.map(resolveName).map((one) => `INDEX ${one}_range ${one} TYPE minmax GRANULARITY 1`),
        ...filters
          .map(resolveName)
          .map((one) => `INDEX ${one}_filter ${one} TYPE bloom_filter GRANULARITY ${marksOfFilter}`),
      ];
      const key = orderBy.map(resolveName).join(', ');
      // ClickHouse reports a key in its original notation; existing tables have no parentheses around a single column.
      const sortingKey = orderBy.length === 1 ? key : `(${key})`;
      return [
        `CREATE TABLE IF NOT EXISTS ${ownName}${onCluster(cluster)} (${definitions.join(', ')})`,
        ` ENGINE = ${cluster === null ? engine : replicate(engine, ownName)}`,
        partitionExpression === null ? '' : ` PARTITION BY ${partitionExpression}`,
        ` ORDER BY ${sortingKey}`,
        settings.length === 0 ? '' : ` SETTINGS ${settings.join(', ')}`,
        comment === null ? '' : ` COMMENT ${sqlString(comment)}`,
      ].join('');
    },
  };
}

/** Creates a table unless it exists. */
export async function createTable(
  database: { readonly cluster: string | null; command(sql: string): Promise<void> },
  table: Pick<Table<unknown>, 'createStatement'>,
): Promise<void> {
  await database.command(table.createStatement(database.cluster));
}

/** Clause that makes every server of a cluster run a statement; empty without a cluster. */
export function onCluster(cluster: string | null): string {
  return cluster === null ? '' : ` ON CLUSTER ${sqlString(cluster)}`;
}

/** Appends rows to a table. After a failure the outcome is unknown: insert the same rows again. */
export async function insertRows<Row>(
  database: { insertBlocks(table: string, blocks: Buffer): Promise<void> },
  table: Pick<Table<Row>, 'encode' | 'name'>,
  rows: readonly Row[],
): Promise<void> {
  await database.insertBlocks(table.name, table.encode(rows));
}

function defineColumn(name: string, { type, codec, comment }: ColumnDefinition): string {
  return [
    `${name} ${type}`,
    comment === undefined ? '' : ` COMMENT ${sqlString(comment)}`,
    codec === undefined ? '' : ` CODEC(${codec})`,
  ].join('');
}

function nameColumn(key: string, { suffix = '' }: Pick<ColumnDefinition, 'suffix'>): string {
  const name = key.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
  if (!name.endsWith(suffix)) throw new Error(`the name of ${key} does not end in ${suffix}`);
  return name.slice(0, name.length - suffix.length);
}

/** The replicated variant of an engine, for a table on the servers of a cluster. */
export function replicate(engine: string, name: string): string {
  const [, kind, version] = /^(\w+)\((\w*)\)$/.exec(engine) ?? [];
  if (kind === undefined || version === undefined)
    throw new Error(`${engine} is not an engine of these tables`);
  const place = `'/clickhouse/tables/{shard}/{database}/${name}', '{replica}'`;
  return `Replicated${kind}(${version === '' ? place : `${place}, ${version}`})`;
}
