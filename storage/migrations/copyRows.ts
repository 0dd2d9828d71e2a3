import type { Logger } from 'pino';
import { uint256Max } from '../../actors/schemas/wireScalars.ts';
import type { Database, QueryParameters } from '../database.ts';
import { listPartitions, type Partition } from '../generations.ts';
import { digestRow } from '../rowDigest.ts';
import type { StoredColumn } from '../tables/table.ts';
import { untypedPartitionMs } from './untypedTables.ts';

/** A table of the version before, and the one that its rows are brought into. */
export interface CopiedTable {
  readonly definition: {
    readonly storedColumns: readonly StoredColumn[];
    readonly timeColumn: string | null;
  };
  readonly from: string;
  readonly to: string;
}

/** Rows that are copied by one statement, at most about: a few seconds' work. */
const rowsAtOnce = 1_000_000;
const progressEveryMs = 5_000;
/**
 * Share of the bytes of a table that is asked for on the disk: its rows take a good third of them with types (`storage/README.md`), and
 * merges need room as well.
 */
const bytesShare = 0.6;

/** The disk has too little space for tables with types in addition to those without. */
class NotEnoughDisk extends Error {
  override readonly name = 'NotEnoughDisk';

  constructor(needed: number, free: number) {
    const mebibytes = (bytes: number) => `${Math.ceil(bytes / 2 ** 20)} MiB`;
    super(
      `the tables are copied into new ones, which takes ${mebibytes(needed)}, and the disk of ClickHouse has ${mebibytes(free)}: ` +
        'make room; it continues by itself',
    );
  }
}

/**
 * Copies all rows, slice by slice. A slice whose rows are in the new table already, by their digest, is left; rows of another
 * content are removed first. So it may end anywhere and begin again, also where the old tables have changed in between.
 *
 * @throws NotEnoughDisk before anything is copied.
 */
export async function copyRows(
  database: Database,
  tables: readonly CopiedTable[],
  logger: Logger,
): Promise<void> {
  const rows = await requireDisk(database, tables);
  const progress = createProgress(rows, logger);
  for (const table of tables) {
    for (const slice of await listSlices(database, table)) {
      await copySlice(database, table, slice);
      progress.add(slice.rows, table.to);
    }
    await requireSameCount(database, table);
  }
}

/** @returns how many rows there are. */
async function requireDisk(database: Database, tables: readonly CopiedTable[]): Promise<number> {
  const measureSize = async (names: readonly string[]) => {
    const [row] = await database.select(
      `SELECT sum(bytes_on_disk), sum(rows) FROM system.parts
       WHERE active AND database = currentDatabase() AND table IN {names:Array(String)}`,
      { names },
    );
    return { bytes: Number(row?.[0]), rows: Number(row?.[1]) };
  };
  const before = await measureSize(tables.map(({ from }) => from));
  const copied = await measureSize(tables.map(({ to }) => to));
  const needed = before.bytes * bytesShare - copied.bytes;
  const [disk] = await database.select(
    `SELECT min(free_space) FROM system.disks WHERE name IN (
       SELECT disk_name FROM system.parts
       WHERE active AND database = currentDatabase() AND table IN {names:Array(String)})`,
    { names: tables.map(({ from }) => from) },
  );
  const free = Number(disk?.[0]);
  if (before.rows > 0 && needed > free) throw new NotEnoughDisk(needed, free);
  return before.rows;
}

/** Rows of a table that are copied at once: SQL that finds them in the old table and in the new one. */
interface Slice {
  readonly rows: number;
  readonly inOld: string;
  readonly inNew: string;
  readonly parameters: QueryParameters;
}

async function listSlices(database: Database, { from, definition }: CopiedTable): Promise<Slice[]> {
  const slices: Slice[] = [];
  for (const partition of await listPartitions(database, from)) {
    const [row] = await database.select(
      `SELECT min(position), max(position) FROM ${from} WHERE _partition_id = {partition:String}`,
      { partition: partition.id },
    );
    const [first, last] = [Number(row?.[0]), Number(row?.[1])];
    const parts = Math.ceil(partition.rows / rowsAtOnce);
    const span = Math.ceil((last - first + 1) / parts);
    const period = findPeriod(definition.timeColumn, partition);
    for (let part = 0; part < parts; part++) {
      const positions = 'position >= {first:Int64} AND position < {end:Int64}';
      slices.push({
        rows: Math.ceil(partition.rows / parts),
        inOld: `_partition_id = {partition:String} AND ${positions}`,
        inNew: `${period.sql}${positions}`,
        parameters: {
          ...period.parameters,
          partition: partition.id,
          first: first + part * span,
          end: first + (part + 1) * span,
        },
      });
    }
  }
  return slices;
}

/** The times of an old partition, in the new table. */
function findPeriod(timeColumn: string | null, { value }: Partition) {
  if (timeColumn === null) return { sql: '', parameters: {} };
  // intDiv rounds towards zero: partition 0 has the times on both sides of it.
  const period = Number(value);
  const fromMs = period > 0 ? period * untypedPartitionMs : (period - 1) * untypedPartitionMs + 1;
  const endMs = period >= 0 ? (period + 1) * untypedPartitionMs : period * untypedPartitionMs + 1;
  const time = (name: string) => `fromUnixTimestamp64Milli({${name}:Int64}, 'UTC')`;
  return {
    sql: `${timeColumn} >= ${time('fromMs')} AND ${timeColumn} < ${time('endMs')} AND `,
    parameters: { fromMs, endMs },
  };
}

async function copySlice(database: Database, { definition, from, to }: CopiedTable, slice: Slice) {
  const { inOld, inNew, parameters } = slice;
  const { storedColumns } = definition;
  const digest = async (table: string, where: string, expression: string) => {
    const [row] = await database.select(
      `SELECT count(), toString(sum(${expression})) FROM ${table} FINAL WHERE ${where}`,
      parameters,
    );
    return `${row?.[0]} rows, digest ${row?.[1]}`;
  };
  const wanted = await digest(from, inOld, digestRow(definition, convertColumn));
  const found = () => digest(to, inNew, digestRow(definition));
  const before = await found();
  if (before === wanted) return;
  if (!before.startsWith('0 rows'))
    await database.command(`ALTER TABLE ${to} DELETE WHERE ${inNew} SETTINGS mutations_sync = 2`, parameters);
  await database.command(
    `INSERT INTO ${to} (${storedColumns.map(({ name }) => name).join(', ')})
     SELECT ${storedColumns.map(convertColumn).join(', ')} FROM ${from} FINAL WHERE ${inOld}`,
    parameters,
  );
  const after = await found();
  if (after !== wanted) throw new Error(`${to} has ${after} of ${from}, expected ${wanted}`);
}

/** A row that is in none of the slices was removed from the old table since an earlier attempt copied it. */
async function requireSameCount(database: Database, { from, to }: CopiedTable) {
  const countRows = async (table: string) => {
    const [row] = await database.select(`SELECT count() FROM ${table} FINAL`);
    return Number(row?.[0]);
  };
  const [wanted, found] = [await countRows(from), await countRows(to)];
  if (wanted === found) return;
  await database.command(`ALTER TABLE ${to} DELETE WHERE 1 SETTINGS mutations_sync = 2`);
  throw new Error(`${to} had ${found} rows, ${from} has ${wanted}: it is copied again`);
}

/** SQL of a column's value, from the column of the old table. */
function convertColumn({ name, type, insertedAs }: StoredColumn): string {
  const old = insertedAs ?? name;
  if (type.startsWith('DateTime64')) return `fromUnixTimestamp64Milli(${old}, 'UTC')`;
  if (type === 'UInt256') return `toUInt256(${old})`;
  // Digits beyond the type are taken modulo 2^256 by ClickHouse.
  if (type === 'Nullable(UInt256)') return `if(${fitsUint256(old)}, toNullable(toUInt256(${old})), NULL)`;
  return `accurateCast(${old}, '${type.replaceAll("'", "\\'")}')`;
}

function fitsUint256(decimal: string): string {
  const largest = uint256Max.toString();
  return `(length(${decimal}) < ${largest.length} OR (length(${decimal}) = ${largest.length} AND ${decimal} <= '${largest}'))`;
}

function createProgress(rows: number, logger: Logger) {
  const startedMs = performance.now();
  let [done, saidMs] = [0, startedMs];
  return {
    add: (count: number, table: string) => {
      done += count;
      const nowMs = performance.now();
      if (nowMs - saidMs < progressEveryMs) return;
      saidMs = nowMs;
      const secondsLeft = Math.round(((nowMs - startedMs) / 1_000) * (rows / done - 1));
      logger.info({ table, rows: done, of: rows, secondsLeft }, 'rows are brought into tables with types');
    },
  };
}
