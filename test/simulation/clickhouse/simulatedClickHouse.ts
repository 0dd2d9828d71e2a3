import { writeFileSync } from 'node:fs';
import { Session } from 'chdb';
import type { ResultRow } from '../../../storage/definition/column.ts';

type Parameters = Readonly<Record<string, unknown>>;

/** As the program sets them for its embedded engine, which also runs in one thread here: results in any order then come in the same order again. */
const settings = [
  'async_insert = 0',
  'input_format_parallel_parsing = 0',
  "local_filesystem_read_method = 'pread'",
  'max_threads = 1',
  'output_format_json_quote_64bit_integers = 1',
];

/** Opens the embedded ClickHouse in a temporary folder. A process has one. */
export function openEngine(): Session {
  // The engine knows no POSIX zones such as `GMT+1`.
  process.env.TZ = 'UTC';
  const engine = new Session();
  engine.query(`SET ${settings.join(', ')}`);
  return engine;
}

/** ClickHouse in a world: an empty database of the engine, which answers within the turn. Parts are merged only when a fault does it. */
export type SimulatedClickHouse = ReturnType<typeof createSimulatedClickHouse>;

export function createSimulatedClickHouse(engine: Session) {
  for (const sql of ['DROP DATABASE IF EXISTS world SYNC', 'CREATE DATABASE world', 'USE world'])
    engine.query(sql);
  const path = `${engine.path}/insert.native`;
  const tables = new Set<string>();
  /** Texts of results. A statement takes milliseconds, most are asked again, and only a change of a table gives another result. */
  const results = new Map<string, string>();

  /** Forgets results of statements that name a table; all of them for an empty name. */
  function forget(table: string) {
    for (const statement of results.keys()) if (statement.includes(table)) results.delete(statement);
  }

  /** Text of a result. */
  function query(sql: string, parameters: Parameters): string {
    const statement =
      sql + JSON.stringify(parameters, (_, value) => (typeof value === 'bigint' ? `${value}` : value));
    const result = results.get(statement) ?? engine.queryBind(sql, parameters, 'JSONCompact');
    results.set(statement, result);
    return result;
  }

  function command(sql: string, parameters: Parameters = {}) {
    const [, created, changed = ''] =
      /^(?:CREATE TABLE IF NOT EXISTS (\w+)|(?:INSERT INTO|ALTER TABLE) (\w+))/.exec(sql) ?? [];
    // Each process that starts asks for tables.
    if (created !== undefined && tables.has(created)) return;
    forget(changed);
    engine.queryBind(sql, parameters);
    if (created === undefined) return;
    tables.add(created);
    engine.query(`SYSTEM STOP MERGES ${created}`);
  }

  /** Inserts the rows of `Native` blocks, or only the first half of them. */
  function insert(table: string, blocks: Buffer, isTorn = false) {
    forget(table);
    writeFileSync(path, blocks);
    const file = `file('${path}', Native)`;
    engine.query(
      isTorn
        ? `INSERT INTO ${table} SELECT * FROM ${file} LIMIT (SELECT intDiv(count(), 2) FROM ${file})`
        : `INSERT INTO ${table} FROM INFILE '${path}' FORMAT Native`,
    );
  }

  /** Rows of a result; none before the table exists. Integers of 64 bits and more are texts. */
  function select(sql: string, parameters: Parameters = {}): ResultRow[] {
    try {
      return JSON.parse(query(sql, parameters)).data;
    } catch (error) {
      if (String(error).includes('UNKNOWN_TABLE')) return [];
      throw error;
    }
  }

  /** Changes stored rows in the way that ClickHouse does it in the background. */
  function change(table: string, sql: string) {
    forget(table);
    engine.query(`SYSTEM START MERGES ${table}`);
    engine.query(`${sql} SETTINGS mutations_sync = 1`);
    engine.query(`SYSTEM STOP MERGES ${table}`);
  }

  /** Merges the parts of each table. */
  function merge() {
    for (const name of tables) change(name, `OPTIMIZE TABLE ${name} FINAL`);
  }

  return { query, command, insert, select, change, merge };
}
