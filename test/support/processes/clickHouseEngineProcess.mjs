// A ClickHouse server for tests: the embedded engine behind the part of ClickHouse's HTTP interface that its clients use. Debian's
// clickhouse-server is too old to hold the tables. Arguments: the folder of the data, and the port.
import { rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { Session } from 'chdb';

const [path, port] = process.argv.slice(2);
/** Codes for unknown names, which a server answers with 404. */
const notFoundCodes = new Set(['36', '46', '47', '60', '81']);
const badRequestCodes = new Set(['41', '53', '62', '456', '457']);
/** The default of a server. */
const keepAliveMs = 3_000;

/** Each session has its own database, and runs one statement at a time. */
const sessions = new Map([['default', new Session(path)]]);

function sessionOf(database) {
  const known = sessions.get(database);
  if (known !== undefined) return known;
  const session = new Session(path);
  try {
    session.query(`USE \`${database}\``);
  } catch (error) {
    session.close();
    throw error;
  }
  sessions.set(database, session);
  return session;
}

/** Parameters arrive in the notation of `TabSeparated`. */
function unescapeText(text) {
  const characters = { t: '\t', n: '\n', r: '\r', 0: '\0', b: '\b', f: '\f' };
  return text.replace(/\\(.)/gs, (_, character) => characters[character] ?? character);
}

/** Arrays arrive as literals. */
function parseArray(text) {
  const items = text.slice(1, -1).match(/'(?:[^'\\]|\\.)*'|[^',]+/gs) ?? [];
  return items.map((item) => (item.startsWith("'") ? unescapeText(item.slice(1, -1)) : Number(item)));
}

function parseParameters(searchParams, statement) {
  const parameters = {};
  for (const [key, value] of searchParams) {
    if (!key.startsWith('param_')) continue;
    const name = key.slice('param_'.length);
    const isArray = statement.includes(`{${name}:Array(`);
    parameters[name] = isArray ? parseArray(value) : unescapeText(value);
  }
  return parameters;
}

async function readBody(request) {
  const chunks = [];
  for await (const chunk of request) chunks.push(chunk);
  return Buffer.concat(chunks);
}

const insertion = /^\s*INSERT INTO ([\w.]+) FORMAT Native\s*?\n/;
let insertCount = 0;

/** The engine reads binary rows only from files. */
async function insertRows(session, table, blocks) {
  const file = join(path, `insert-${insertCount++}`);
  await writeFile(file, blocks);
  try {
    await session.queryAsync(`INSERT INTO ${table} FROM INFILE '${file}' FORMAT Native`);
  } finally {
    await rm(file);
  }
}

async function run(session, statement, parameters, format) {
  const head = statement.subarray(0, 4_096).toString('latin1');
  const [start, table] = insertion.exec(head) ?? [];
  if (start !== undefined) {
    await insertRows(session, table, statement.subarray(start.length));
    return { bytes: Buffer.alloc(0), rowsRead: 0, bytesRead: 0 };
  }
  const sql = statement.toString('utf8');
  const result =
    Object.keys(parameters).length === 0
      ? await session.queryAsync(sql, { format })
      : await session.queryBindAsync(sql, parameters, { format });
  return { bytes: Buffer.from(result.bytes()), rowsRead: result.rowsRead, bytesRead: result.bytesRead };
}

async function answer(request, response) {
  const { pathname, searchParams } = new URL(request.url, 'http://engine');
  if (pathname === '/ping') return response.end('Ok.\n');
  const body = await readBody(request);
  const query = searchParams.get('query');
  const statement = query === null ? body : Buffer.concat([Buffer.from(`${query}\n`), body]);
  const parameters = parseParameters(searchParams, statement);
  try {
    const format = searchParams.get('default_format') ?? 'TabSeparated';
    const session = sessionOf(searchParams.get('database') ?? 'default');
    const { bytes, rowsRead, bytesRead } = await run(session, statement, parameters, format);
    const summary = JSON.stringify({ read_rows: String(rowsRead), read_bytes: String(bytesRead) });
    response.setHeader('X-ClickHouse-Summary', summary).end(bytes);
  } catch (error) {
    const { message } = error;
    const code = /\bCode: (\d+)/.exec(message)?.[1] ?? '1001';
    response.statusCode = notFoundCodes.has(code) ? 404 : badRequestCodes.has(code) ? 400 : 500;
    response.setHeader('X-ClickHouse-Exception-Code', code).end(`${message}\n`);
  }
}

const server = createServer((request, response) => {
  answer(request, response).catch(() => response.destroy());
});
server.keepAliveTimeout = keepAliveMs;
server.listen(Number(port), '127.0.0.1');
