// Prints the rows of every table of an embedded ClickHouse, as a process of its own: the engine opens one folder in its
// life. Arguments: the engine's folder, and the folder for one file per table.
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Session } from 'chdb';

/** Drawn by chance when a database is created. */
const leftOut = new Set(['database_identity']);

const [engine, out] = process.argv.slice(2);
mkdirSync(out, { recursive: true });
const session = new Session(engine);
const select = (sql) => session.query(sql, 'JSONEachRow').split('\n').filter(Boolean);
const databases = "database NOT IN ('system', 'INFORMATION_SCHEMA', 'information_schema')";
for (const line of select(
  `SELECT database, name, engine FROM system.tables WHERE ${databases} ORDER BY name`,
)) {
  const table = JSON.parse(line);
  if (leftOut.has(table.name)) continue;
  // Rows that were written again are one row, whether their parts are merged yet or not.
  const final = table.engine.startsWith('Replacing') ? 'FINAL' : '';
  const rows = select(`SELECT * FROM ${table.database}.${table.name} ${final} ORDER BY ALL`);
  writeFileSync(join(out, `${table.name}.jsonl`), rows.map((row) => `${row}\n`).join(''));
}
session.close();
