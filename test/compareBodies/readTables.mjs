// Prints the rows of every table of an embedded ClickHouse, in its own process: the engine opens one folder per
// process. Arguments: the engine's folder, the folder for one file per table, and beginnings of names of tables to leave out.
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Session } from 'chdb';

const [engine, out, ...further] = process.argv.slice(2);
/** Its column has a random name. */
const leftOut = ['database_identity', ...further];
mkdirSync(out, { recursive: true });
const session = new Session(engine);
const select = (sql) => session.query(sql, 'JSONEachRow').split('\n').filter(Boolean);
const databases = "database NOT IN ('system', 'INFORMATION_SCHEMA', 'information_schema')";
for (const line of select(
  `SELECT database, name, engine FROM system.tables WHERE ${databases} ORDER BY name`,
)) {
  const table = JSON.parse(line);
  if (leftOut.some((beginning) => table.name.startsWith(beginning))) continue;
  // Rows that were written again are one row, whether their parts are merged yet or not.
  const final = table.engine.startsWith('Replacing') ? 'FINAL' : '';
  const rows = select(`SELECT * FROM ${table.database}.${table.name} ${final} ORDER BY ALL`);
  writeFileSync(join(out, `${table.name}.jsonl`), rows.map((row) => `${row}\n`).join(''));
}
session.close();
