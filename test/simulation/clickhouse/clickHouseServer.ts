import type { SqlValue } from './evaluate.ts';
import { readBlocks } from './readBlocks.ts';
import { type QueriedRows, runSelect, type SelectContext } from './runSelect.ts';
import { readSql, type SelectQuery } from './sqlParser.ts';
import { parseCreateTable, type StoredRow, type StoredTable } from './storedTable.ts';

type Parameters = Readonly<Record<string, unknown>>;

/** The part of ClickHouse that the service uses: tables and merges. */
export type SimulatedClickHouse = ReturnType<typeof createSimulatedClickHouse>;

export function createSimulatedClickHouse() {
  const tables = new Map<string, StoredTable>();
  const parsed = new Map<string, readonly SelectQuery[]>();
  /** Columns of all tables; null after a table was created. */
  let columns: Record<string, SqlValue>[] | null = null;

  function findTable(name: string): StoredTable {
    const table = tables.get(name);
    if (table === undefined) throw new Error(`Code: 60. table ${name} does not exist`);
    return table;
  }

  function rowsOf(name: string, isFinal: boolean): QueriedRows {
    if (name.startsWith('system.')) {
      const rows = systemRows(name.slice('system.'.length));
      // These are the rows.
      return { rows, readColumn: (row, column) => (row as (typeof rows)[number])[column] ?? null };
    }
    const table = findTable(name);
    const rows = isFinal ? table.final() : table.rows;
    return { rows, readColumn: (row, column) => readColumn(table, row as StoredRow, column) };
  }

  function listColumns(): Record<string, SqlValue>[] {
    return [...tables.values()].flatMap((table) =>
      table.columns.map(({ name }) => ({ database: 'default', table: table.name, name })),
    );
  }

  function systemRows(name: string): Record<string, SqlValue>[] {
    if (name === 'columns') {
      columns ??= listColumns();
      return columns;
    }
    if (name !== 'tables') return [];
    return [...tables.values()].map((table) => ({
      database: 'default',
      name: table.name,
      engine_full: table.engine,
    }));
  }

  function query(sql: string, parameters: Parameters): SqlValue[][] {
    if (sql.startsWith('SELECT * FROM system.settings')) return [];
    let selects = parsed.get(sql);
    if (selects === undefined) {
      selects = sql.split(' UNION ALL ').map((one) => readSql(one).select());
      parsed.set(sql, selects);
    }
    const context: SelectContext = { parameters, rowsOf };
    return selects.flatMap((select) => runSelect(select, context));
  }

  function insertSelected(sql: string, parameters: Parameters) {
    const [head, name = '', list = ''] = /^INSERT INTO (\w+) \(([^)]*)\) (?=SELECT)/.exec(sql) ?? [];
    if (head === undefined) throw new Error(`the simulated database cannot insert: ${sql.slice(0, 80)}`);
    const columns = list.split(',').map((one) => one.trim());
    findTable(name).insert(columns, query(sql.slice(head.length), parameters));
  }

  /** Inserts the rows of `Native` blocks, or the first part of each block. */
  function insert(name: string, bytes: Buffer, part = 1) {
    const table = findTable(name);
    for (const { columns, rows } of readBlocks(bytes))
      table.insert(columns, rows.slice(0, Math.floor(rows.length * part)));
  }

  function alter(sql: string, parameters: Parameters) {
    const [head = '', name = '', action = ''] = /^ALTER TABLE (\w+) (.*)$/s.exec(sql) ?? [];
    if (head === '') throw new Error(`the simulated database cannot alter: ${sql.slice(0, 80)}`);
    const table = findTable(name);
    if (!action.startsWith('DROP PARTITION')) throw new Error(`the simulated database cannot alter: ${sql}`);
    const dropped = String(Object.values(parameters)[0]);
    table.rows = table.rows.filter((row) => table.partitionOf(row) !== dropped);
  }

  function command(sql: string, parameters: Parameters) {
    if (sql.startsWith('INSERT INTO')) return insertSelected(sql, parameters);
    if (sql.startsWith('ALTER TABLE')) return alter(sql, parameters);
    if (sql.startsWith('CREATE TABLE')) {
      // Each process that starts asks for all of them.
      if (tables.has(/^CREATE TABLE IF NOT EXISTS (\w+)/.exec(sql)?.[1] ?? '')) return;
      columns = null;
      const table = parseCreateTable(sql);
      tables.set(table.name, table);
      return;
    }
    // Views are only for queries by hand.
    if (!sql.startsWith('CREATE OR REPLACE VIEW'))
      throw new Error(`the simulated database cannot run: ${sql}`);
  }

  /** Merges the parts of a table. */
  const merge = (name: string) => findTable(name).merge();
  return { tables, query, command, insert, merge };
}

function readColumn(table: StoredTable, row: StoredRow, name: string): SqlValue {
  return name === '_partition_id' ? table.partitionOf(row) : (row.values[table.indexOf(name)] as SqlValue);
}
