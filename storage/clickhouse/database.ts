import { readFileSync } from 'node:fs';
import { open, unlink, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { Readable } from 'node:stream';
import {
  type ClickHouseClient,
  type ClickHouseClientConfigOptions,
  ClickHouseLogLevel,
  type ClickHouseSettings,
  createClient,
} from '@clickhouse/client';
import { OperatorError } from '../../actors/operatorError.ts';
import { RecordsDamaged, StoreUnavailable, TableMissing } from '../../actors/pages/olderRows.ts';
import { readErrorCode } from '../../actors/readErrorCode.ts';
import { readErrorMessage } from '../../actors/readErrorMessage.ts';
import type { ResultRow } from '../definition/column.ts';
import { sqlString } from '../definition/sqlString.ts';
import { lockDirectory } from './directoryLock.ts';
import { createPrivateDirectory } from './privateDirectory.ts';
import { findReadLimits } from './readLimits.ts';

/** A longer request counts as failed. Its outcome is unknown, so the caller repeats it. */
const requestMs = 30_000;
/** Must be below the server's keep-alive (3 s by default). Otherwise a request may use a socket that is being closed. */
const idleSocketMs = 2_000;
/**
 * The embedded engine shares its cores with the program. Rows already come in batches, so it neither gathers them again nor parses them in
 * several threads. The thread of a statement also reads the files: for a page of rows, handing columns to other threads takes longer.
 */
const embeddedSettings = {
  async_insert: 0,
  input_format_parallel_parsing: 0,
  local_filesystem_read_method: 'pread',
} as const;

/** The engine would measure its memory twenty times a second, with a third of its CPU at rest. */
const engineArguments = ['--memory_worker_period_ms=1000'];

/** Sent once. Sending the settings with each statement would take three more statements, together as long as a small one. */
const setStatement = `SET ${Object.entries(embeddedSettings)
  .map(([name, value]) => `${name} = ${typeof value === 'number' ? value : sqlString(value)}`)
  .join(', ')}`;

/**
 * Sent with every statement to a cluster. A majority of its servers has what an insert stored. A server reads only what a majority has, and refuses
 * reads while it lacks some of that, so it does not matter which server a process asks. This needs inserts that follow one another in each table.
 */
const clusterSettings: ClickHouseSettings = {
  insert_quorum: 'auto',
  insert_quorum_parallel: 0,
  select_sequential_consistency: '1',
};

/** Values of the parameters `{name:Type}` in a statement, by name. */
export type QueryParameters = Readonly<
  Record<string, string | number | bigint | readonly string[] | readonly number[]>
>;

/** ClickHouse's error codes for a faulty statement: repeating it cannot help. */
const statementErrors: ReadonlySet<string> = new Set([
  '27', // Cannot parse the input.
  '36', // Bad arguments.
  '42', // Wrong number of arguments.
  '43', // Illegal type of an argument.
  '46', // Unknown function.
  '47', // Unknown identifier.
  '53', // Type mismatch.
  '62', // Syntax error.
  '63', // Unknown aggregate function.
  '70', // Cannot convert a type.
  '456', // Unknown parameter of the query.
  '457', // Bad parameter of the query.
]);

/** ClickHouse's error code for a table that is missing. */
const unknownTable = '60';

/** ClickHouse's error codes for a damaged file: an early end, a wrong checksum, a missing file, corrupted data, data that cannot be decompressed. */
const damageErrors: ReadonlySet<string> = new Set(['32', '33', '40', '107', '226', '246', '271']);

/**
 * ClickHouse, embedded or a server. Statements use only SQL that the oldest supported server (`serverVersion.ts`) and the embedded engine
 * both understand. Values are sent as parameters; the text contains only table names and numbers of our own.
 */
export interface Database {
  readonly kind: 'embedded' | 'server';
  /** Cluster whose servers hold replicated tables; null for a single server. */
  readonly cluster: string | null;
  /** Appends rows, as blocks of the `Native` format. After a failure the outcome is unknown: send the same rows again. */
  insertBlocks(table: string, blocks: Buffer | AsyncIterable<Buffer>): Promise<void>;
  select(sql: string, parameters?: QueryParameters, signal?: AbortSignal): Promise<ResultRow[]>;
  /**
   * Reads columns without JSON, which takes ten times as long for large cells. The columns may hold only numbers and ASCII text that needs no
   * escape in `TabSeparated`. Each cell is a string.
   *
   * @param source the statement from `FROM` on.
   */
  selectPlain(columns: readonly string[], source: string, parameters?: QueryParameters): Promise<string[][]>;
  command(sql: string, parameters?: QueryParameters): Promise<void>;
  /** Refuses new statements, and resolves when the running ones have ended. */
  close(): Promise<void>;
}

/** SQL condition on the columns of a table, and its parameters. */
export interface RowCondition {
  readonly sql: string;
  readonly parameters: QueryParameters;
}

export type DatabaseLocation =
  /**
   * `http://user:password@host:port/database` of a server (or `https:`), its cluster, and a file with the certificates that verify the
   * server's own.
   */
  | { readonly url: string; readonly cluster?: string | null; readonly caFile?: string | null }
  /** Data directory of the embedded engine; one process at a time. */
  | { readonly path: string };

/**
 * Opens ClickHouse. A server may still be down.
 *
 * @throws DirectoryInUse when another process has the embedded engine's directory.
 * @throws OperatorError when this installation has no embedded engine.
 */
export function openDatabase(location: DatabaseLocation): Database {
  if ('url' in location) {
    const { cluster = null } = location;
    const client = createClient({
      url: location.url,
      request_timeout: requestMs,
      keep_alive: { enabled: true, idle_socket_ttl: idleSocketMs },
      log: { level: ClickHouseLogLevel.OFF }, // Every error is thrown, and its handler logs it once.
      ...(cluster !== null && { clickhouse_settings: clusterSettings }),
      ...(location.caFile && { tls: { ca_cert: readFileSync(location.caFile) } }),
    });
    const insert: InsertBlocks = async (table, blocks) => {
      const values = Readable.from(blocks, { objectMode: false });
      const { stream } = await client.exec({ query: `INSERT INTO ${table} FORMAT Native`, values });
      stream.resume();
    };
    return createDatabase({
      kind: 'server',
      cluster,
      client,
      insert: cluster === null ? insert : inTurn(insert),
      readSettings: once(() => findReadLimits(client)),
    });
  }
  const { createChdbConnection, Session } = loadEmbeddedEngine();
  createPrivateDirectory(location.path);
  const unlock = lockDirectory(location.path);
  const path = `${location.path}/engine`;
  // Only a session takes arguments. The engine keeps them for the connection.
  const session = withUniversalTime(() => new Session(path, { connectionArgs: engineArguments }));
  const engine = createChdbConnection({ path });
  session.close();
  const client = createClient({
    // The two types are the same contract: chdb brings its own copy of the package that declares it.
    connection: engine as unknown as NonNullable<ClickHouseClientConfigOptions['connection']>,
    log: { level: ClickHouseLogLevel.OFF },
  });
  let insertCount = 0;
  // The engine reads binary rows only from files. A file without a name leaves nothing behind, and its path is never read as a pattern.
  const insert: InsertBlocks = async (table, blocks) => {
    const path = `${location.path}/insert-${insertCount++}`;
    const file = await open(path, 'w+', 0o600);
    try {
      await unlink(path);
      await writeFile(file, blocks);
      await client.command({ query: `INSERT INTO ${table} FROM INFILE '/dev/fd/${file.fd}' FORMAT Native` });
    } finally {
      await file.close();
    }
  };
  const prepare = once(() => client.command({ query: setStatement }));
  return createDatabase({
    kind: 'embedded',
    cluster: null,
    client,
    insert,
    prepare,
    onClosed: unlock,
  });
}

/**
 * Runs work with UTC as the time zone of the environment. The embedded engine reads the variable once, when it is opened, and knows no POSIX zones
 * such as `GMT+1`. Columns and statements name UTC, so its own zone means nothing.
 */
function withUniversalTime<Result>(work: () => Result): Result {
  const { TZ } = process.env;
  process.env.TZ = 'UTC';
  try {
    return work();
  } finally {
    if (TZ === undefined) delete process.env.TZ;
    else process.env.TZ = TZ;
  }
}

/** Runs the work once: later callers share its outcome. After a failure the next call runs it again. */
function once<Result>(work: () => Promise<Result>): () => Promise<Result> {
  let done: Promise<Result> | null = null;
  return () => {
    done ??= work().catch((error: unknown) => {
      done = null;
      throw error;
    });
    return done;
  };
}

/** The engine is half a gigabyte large and takes as long to load as everything else, so a process with a server does without it. */
function loadEmbeddedEngine(): typeof import('chdb') & typeof import('chdb/connection') {
  const load = createRequire(import.meta.url);
  try {
    return { ...load('chdb'), ...load('chdb/connection') };
  } catch (error) {
    throw new OperatorError(
      'the embedded ClickHouse (chdb) is not installed, or does not load here: set MINER_CLICKHOUSE_URL',
      { exitStatus: 2, cause: error },
    );
  }
}

type InsertBlocks = Database['insertBlocks'];

/** Inserts into a table one after another: a table of a cluster refuses an insert while another one waits for its majority. */
function inTurn(insert: InsertBlocks): InsertBlocks {
  const last = new Map<string, Promise<void>>();
  return (table, blocks) => {
    const begin = () => insert(table, blocks);
    const done = (last.get(table) ?? Promise.resolve()).then(begin, begin);
    last.set(table, done);
    return done;
  };
}

/** Rows of a result. If a statement fails midway, the embedded engine puts its remaining output before the next result. */
function parseRows(text: string): ResultRow[] {
  try {
    const { data }: { readonly data: ResultRow[] } = JSON.parse(text);
    return data;
  } catch (error) {
    // Values of a result contain no unescaped line feed.
    const last = text.lastIndexOf('\n{\n');
    if (last === -1) throw error;
    return parseRows(text.slice(last + 1));
  }
}

/** Rows of `TabSeparatedWithNames`. Remaining output of a failed statement may come before them. */
function parsePlainRows(text: string, columns: readonly string[]): string[][] {
  const lines = text.split('\n');
  const names = columns.join('\t');
  const namesAt = lines.findLastIndex((line) => line.endsWith(names));
  if (namesAt === -1 || lines.pop() !== '') throw new Error('the result is not complete');
  return lines.slice(namesAt + 1).map((line) => line.split('\t'));
}

interface DatabaseParts extends Pick<Database, 'kind' | 'cluster'> {
  readonly client: ClickHouseClient;
  readonly insert: InsertBlocks;
  /** Runs before the first statement. */
  readonly prepare?: () => Promise<unknown>;
  readonly readSettings?: () => Promise<ClickHouseSettings>;
  readonly onClosed?: () => void;
}

function createDatabase(parts: DatabaseParts): Database {
  const { client, insert, prepare, readSettings, onClosed, ...about } = parts;
  const running = new Set<Promise<unknown>>();
  let isClosed = false;

  async function attempt<Result>(request: () => Promise<Result>): Promise<Result> {
    if (isClosed) throw new StoreUnavailable('ClickHouse is closed');
    const answer = prepare === undefined ? request() : prepare().then(request);
    running.add(answer);
    try {
      return await answer;
    } catch (error) {
      const message = readErrorMessage(error);
      const code = /\bcode:? (\d+)/i.exec(message)?.[1] ?? readErrorCode(error);
      if (code !== undefined && statementErrors.has(code)) throw error;
      if (code !== undefined && damageErrors.has(code))
        throw new RecordsDamaged(`ClickHouse cannot read what it has stored: ${message}`, { cause: error });
      if (code === unknownTable)
        throw new TableMissing(`ClickHouse lacks a table: ${message}`, { cause: error });
      throw new StoreUnavailable(`ClickHouse does not answer: ${message}`, { cause: error });
    } finally {
      running.delete(answer);
    }
  }

  async function command(query: string, parameters: QueryParameters = {}) {
    await attempt(() => client.command({ query, query_params: parameters }));
  }

  return {
    ...about,
    command,
    insertBlocks: (table, blocks) => attempt(() => insert(table, blocks)),
    select: (sql, parameters = {}, signal) =>
      attempt(async () => {
        const abort = signal === undefined ? {} : { abort_signal: signal };
        const settings = readSettings === undefined ? {} : { clickhouse_settings: await readSettings() };
        const result = await client.query({
          query: sql,
          query_params: parameters,
          format: 'JSONCompact',
          ...settings,
          ...abort,
        });
        return parseRows(await result.text());
      }),
    selectPlain: (columns, source, parameters = {}) =>
      attempt(async () => {
        const { stream } = await client.exec({
          query: `SELECT ${columns.join(', ')} ${source} FORMAT TabSeparatedWithNames`,
          query_params: parameters,
          // The server then also reports an error that it meets after the first rows.
          clickhouse_settings: { ...(await readSettings?.()), wait_end_of_query: 1 },
        });
        const pieces: Buffer[] = [];
        for await (const piece of stream) pieces.push(piece);
        return parsePlainRows(Buffer.concat(pieces).toString('latin1'), columns);
      }),
    close: async () => {
      isClosed = true;
      // A process that exits while a statement runs in the embedded engine ends with a segmentation fault.
      await Promise.allSettled(running);
      await client.close();
      onClosed?.();
    },
  };
}
