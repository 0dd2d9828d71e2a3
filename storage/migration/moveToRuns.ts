import type { Logger } from 'pino';
import { parse, stringify } from '../../actors/folds/bigintJson.ts';
import type { FoldIdentity } from '../../actors/folds/foldIdentity.ts';
import type { FoldRecord } from '../../actors/folds/foldRecord.ts';
import { type InputStreamName, inputStreamNames } from '../../actors/messages/subjects.ts';
import type { Database, RowCondition } from '../clickhouse/database.ts';
import { readColumns } from '../clickhouse/readColumns.ts';
import { createTable, onCluster } from '../definition/table.ts';
import { readNewestEpoch } from '../runs/epochFence.ts';
import { findLastRun, noteLineage, openEnd, readLineage, type VisibleRuns } from '../runs/lineages.ts';
import { isRefusal } from '../snapshots/readSnapshotRecords.ts';
import { createSnapshotStore } from '../snapshots/snapshots.ts';
import { foldStates } from '../tables/foldStates.ts';
import { lineages } from '../tables/lineages.ts';
import { type RowTable, rowTables, rowTablesOf } from '../tables/rowTables.ts';
import { convertNewest, type MigratedDeployment, type ReleasedFeed } from './convertReleased.ts';
import {
  findSource,
  type ReleasedSource,
  readActiveGeneration,
  readReadingsOrigin,
} from './releasedTables.ts';

/** A server's client gives a statement up after 30 seconds. This many readings take a few. */
const rowsPerStatement = 2_000_000;

/**
 * With ClickHouse's own threads and blocks, four times as large, a copy takes a gigabyte of memory instead of half of one, and is little faster: merges
 * take the other cores.
 */
const copySettings =
  'max_threads = 1, max_insert_threads = 1, min_insert_block_size_rows = 262144, min_insert_block_size_bytes = 67108864';

const progressMs = 5_000;

/** Names of the runs that rows and states of 1.0 move to begin with it. */
const runPrefix = 'released-';

/** Fold and stream that made the rows of a stream, and how far it was folded. */
interface MovedHistory extends FoldIdentity {
  readonly stream: InputStreamName;
  readonly streamCreated: string;
  /** Position of the state that is taken over; 0 without one. */
  readonly position: number;
  readonly feed: ReleasedFeed | null;
}

/** Where the rows of a stream come from, and the run that they move to. */
interface Move {
  readonly database: Database;
  readonly logger: Logger;
  readonly generation: number;
  /** Columns of the tables of 1.0, each after the name of its table and a point. */
  readonly columns: ReadonlySet<string>;
  readonly run: string;
}

/**
 * Copies the rows of version 1.0 into a run, and takes the newest state of each stream over. The tables of 1.0 stay, for a way back. A
 * stream whose state cannot be taken over is folded again.
 *
 * May be killed anywhere and run again: nothing counts until the lineages are noted, and what is stored is not copied twice. If 1.0 has run in between,
 * it has begun another epoch, and its rows get a run of their own.
 */
export async function moveToRuns(
  database: Database,
  logger: Logger,
  deployment: MigratedDeployment,
): Promise<void> {
  const generation = await readActiveGeneration(database);
  const writer = await readNewestEpoch(database);
  const columns = await readColumns(database);
  const move = { database, logger, generation, columns, run: `${runPrefix}${writer.epoch}` };
  for (const { definition } of rowTables) await createTable(database, definition);
  await createTable(database, foldStates);
  await keepTtls(move);
  const histories: MovedHistory[] = [];
  for (const stream of inputStreamNames) {
    const history = (await takeOverState(move, stream, deployment)) ?? (await findReadings(move, stream));
    if (history !== null) histories.push(history);
  }
  await copyRows(move, histories);
  // Only now: without this table, the streams of the rows are read from the tables of 1.0.
  await createTable(database, lineages);
  const runs: VisibleRuns = [{ run: move.run, through: openEnd }];
  for (const { feed: _, ...history } of histories) {
    const noted = await readLineage(database, history.stream);
    if (noted !== null && findLastRun(noted.runs) === move.run) continue;
    await noteLineage(
      database,
      { ...history, ...writer, step: 0, cause: 'continued', runs, continuedRun: '' },
      0,
    );
  }
}

/** Whether the history of a stream has ever continued a state of 1.0. */
export async function hasMoved(database: Database, stream: InputStreamName): Promise<boolean> {
  const rows = await database.select(
    `SELECT step FROM ${lineages.name}
     WHERE stream = {stream:String} AND arrayExists(run -> startsWith(run, {runPrefix:String}), runs) LIMIT 1`,
    { stream, runPrefix },
  );
  return rows.length > 0;
}

/**
 * The part of a record that 1.0 noted; null if it noted nothing of it. Version 1.0 knew neither when the stream had stored the last message of an
 * installation, nor the places of the day.
 */
export function selectNoted(record: FoldRecord): FoldRecord | null {
  const { kind, value } = record;
  if (kind === 'heard' || kind === 'places') return null;
  if (kind !== 'installation') return record;
  const { heardAtMs: _, ...noted } = parse(value) as Readonly<Record<string, unknown>>;
  return { ...record, value: stringify(noted) };
}

/** Stores the newest state of a stream as one of the run, unless it is stored. Null if no state can be taken over. */
async function takeOverState(
  { database, logger, generation, run }: Move,
  stream: InputStreamName,
  deployment: MigratedDeployment,
): Promise<MovedHistory | null> {
  const store = createSnapshotStore(database);
  try {
    const converted = await convertNewest(database, { generation, stream, deployment });
    if (converted === null) return null;
    const { header, records, feed } = converted;
    const { foldVersion, configuration, streamCreated, position } = header;
    const isStored = (await store.list(stream)).some((one) => one.run === run);
    if (!isStored) await store.save({ ...header, run }, records, (one) => one.run === run);
    logger.info({ stream, position }, 'the saved state is taken over');
    return { stream, foldVersion, configuration, streamCreated, position, feed };
  } catch (error) {
    if (!isRefusal(error)) throw error;
    logger.warn({ stream, err: error }, 'the saved state is not taken over: the stream is folded again');
    return null;
  }
}

/** Readings are needed without a state too: messages that have left the stream are folded from them. */
async function findReadings(
  { database, generation }: Move,
  stream: InputStreamName,
): Promise<MovedHistory | null> {
  if (stream !== 'MINER_COUNTER') return null;
  const origin = await readReadingsOrigin(database, generation);
  return origin === null ? null : { stream, ...origin, position: 0, feed: null };
}

/** Rows that a TTL has removed are missing in the new tables too, so they get the same one. */
async function keepTtls({ database, generation }: Move): Promise<void> {
  const rows = await database.select(
    'SELECT name, engine_full FROM system.tables WHERE database = currentDatabase()',
  );
  const ttls = new Map(
    rows.map(([name, engine]) => [String(name), / TTL (.+?)(?: SETTINGS |$)/.exec(String(engine))?.[1]]),
  );
  for (const { definition } of rowTables) {
    const ttl = ttls.get(findSource(definition.name, generation)?.name ?? '');
    // Setting it again would rewrite what is copied.
    if (ttl !== undefined && ttls.get(definition.name) === undefined)
      await database.command(
        `ALTER TABLE ${definition.name}${onCluster(database.cluster)} MODIFY TTL ${ttl}`,
      );
  }
}

/** Rows of one table that one statement copies. */
interface Piece {
  readonly source: ReleasedSource;
  readonly table: RowTable['definition'];
  /** Selects the piece from both tables. */
  readonly range: RowCondition;
  /** Selects the rows that are copied from the source. */
  readonly moved: RowCondition;
  /** Whether the run has rows in the table, so that the piece may be stored. */
  readonly isBegun: boolean;
  readonly rows: number;
}

async function copyRows(move: Move, histories: readonly MovedHistory[]): Promise<void> {
  const pieces: Piece[] = [];
  for (const history of histories)
    for (const { definition } of rowTablesOf(history.stream))
      pieces.push(...(await listPieces(move, definition, history)));
  const total = sumRows(pieces);
  let notedAtMs = performance.now();
  for (const [at, piece] of pieces.entries()) {
    if (!piece.isBegun || !(await isCopied(move, piece))) await copyPiece(move, piece);
    if (performance.now() - notedAtMs < progressMs) continue;
    notedAtMs = performance.now();
    move.logger.info({ rows: sumRows(pieces.slice(0, at + 1)), of: total }, 'rows are copied');
  }
  move.logger.info({ rows: total, run: move.run }, 'all rows are copied');
}

function sumRows(pieces: readonly Piece[]): number {
  return pieces.reduce((sum, { rows }) => sum + rows, 0);
}

/** The rows of a table that belong to a history, in pieces of at most a partition, since a statement may insert into few of them. */
async function listPieces(
  { database, generation, columns, run }: Move,
  table: RowTable['definition'],
  { feed }: MovedHistory,
): Promise<Piece[]> {
  const source = findSource(table.name, generation);
  if (source === null) return [];
  const moved = selectMoved((name) => columns.has(`${source.name}.${name}`), feed);
  if (moved === null) return [];
  const [first] = await database.select(`SELECT run FROM ${table.name} WHERE run = {run:String} LIMIT 1`, {
    run,
  });
  const month = table.timeColumn === null ? '0' : `toYYYYMM(${table.timeColumn})`;
  const months = await database.select(
    `SELECT ${month} AS month, sum(${source.count}), min(position), max(position) FROM ${source.name} WHERE ${moved.sql}
     GROUP BY month ORDER BY month`,
    moved.parameters,
  );
  return months.flatMap(([ofMonth, ...numbers]) => {
    const [rows = 0, from = 0, through = 0] = numbers.map(Number);
    const about = { source, table, moved, isBegun: first !== undefined };
    return splitRange({ rows, from, through }).map(({ rows: some, ...range }) => ({
      ...about,
      rows: some,
      range: {
        sql: `${month} = {month:UInt32} AND position >= {from:UInt64} AND position <= {through:UInt64}`,
        parameters: { month: Number(ofMonth), ...range },
      },
    }));
  });
}

interface PositionRange {
  /** Estimated: positions of a month are about evenly spread. */
  readonly rows: number;
  readonly from: number;
  readonly through: number;
}

function splitRange({ rows, from, through }: PositionRange): PositionRange[] {
  const count = Math.ceil(rows / rowsPerStatement);
  const width = Math.ceil((through - from + 1) / count);
  return Array.from({ length: count }, (_, at) => ({
    rows: Math.round(rows / count),
    from: from + at * width,
    through: Math.min(through, from + (at + 1) * width - 1),
  }));
}

/**
 * Selects the rows of a table that the state of its stream relies on: all of a table without runs, otherwise the run of the state's fold. Null for no
 * rows.
 */
function selectMoved(hasColumn: (name: string) => boolean, feed: ReleasedFeed | null): RowCondition | null {
  if (!hasColumn('run')) return { sql: 'true', parameters: {} };
  if (feed === null) return null;
  const ofRun = { sql: 'run = {foldRun:String}', parameters: { foldRun: feed.run } };
  if (hasColumn('stored_by')) return ofRun;
  const { through } = feed.evicted;
  // Later events are made again. Nothing else could tell that they were stored after the state.
  if (through === null) return null;
  return {
    sql: `${ofRun.sql} AND (position, ordinal) <= ({lastPosition:UInt64}, {lastOrdinal:UInt32})`,
    parameters: { ...ofRun.parameters, lastPosition: through.position, lastOrdinal: through.ordinal },
  };
}

/** Whether a migration that was killed has copied a piece. Inserts and merges drop duplicates, so each row is counted once. */
async function isCopied({ database, run }: Move, { source, table, moved, range }: Piece): Promise<boolean> {
  const count = async (name: string, ofRow: string, { sql, parameters }: RowCondition) => {
    const [row] = await database.select(
      `SELECT sum(${ofRow}) FROM ${name} FINAL WHERE ${sql} AND ${range.sql}`,
      {
        ...parameters,
        ...range.parameters,
      },
    );
    return Number(row?.[0]);
  };
  const ofRun = { sql: 'run = {run:String}', parameters: { run } };
  return (await count(table.name, '1', ofRun)) === (await count(source.name, source.count, moved));
}

async function copyPiece(
  { database, columns, run }: Move,
  { source, table, moved, range }: Piece,
): Promise<void> {
  const readFrom = (name: string): string | null => {
    if (name === 'run') return '{run:String}';
    if (columns.has(`${source.name}.${name}`)) return name;
    const made = source.made[name];
    if (made !== undefined) return made;
    // Readings, rounds, half hours and measurement events did not say it. For the first three it is the same.
    return name === 'stored_by' ? 'position' : null;
  };
  const copied = table.storedColumns.flatMap(({ name }) => {
    const value = readFrom(name);
    return value === null ? [] : [{ name, value }];
  });
  await database.command(
    `INSERT INTO ${table.name} (${copied.map(({ name }) => name).join(', ')})
     SELECT ${copied.map(({ value }) => value).join(', ')} FROM ${source.name}
     WHERE ${moved.sql} AND ${range.sql} SETTINGS ${copySettings}`,
    { run, ...moved.parameters, ...range.parameters },
  );
}
