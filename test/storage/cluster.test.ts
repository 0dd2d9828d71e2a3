import { createServer, request } from 'node:http';
import { describe, expect, it } from 'vitest';
import { integer } from '../../storage/definition/column.ts';
import { defineTable, insertRows } from '../../storage/definition/table.ts';
import { useClickHouseEngine } from '../support/processes/clickHouseEngine.ts';
import { listenHere } from '../support/processes/listenHere.ts';
import { openForTest } from '../support/storage/openTables.ts';

const engine = useClickHouseEngine();
const numbers = defineTable<{ readonly n: number }>({
  name: 'numbers',
  columns: { n: integer },
  engine: 'MergeTree()',
  orderBy: ['n'],
});

/** Passes requests on to the engine, and notes their settings and how many inserts were under way at once. */
async function startRelay() {
  const target = new URL(await engine.createDatabase());
  const noted = { settings: [] as (readonly (string | null)[])[], insertsAtOnce: 0 };
  let inserting = 0;
  const server = createServer((incoming, outgoing) => {
    const { searchParams } = new URL(incoming.url ?? '', target);
    const names = ['insert_quorum', 'insert_quorum_parallel', 'select_sequential_consistency'];
    noted.settings.push(names.map((name) => searchParams.get(name)));
    const isInsert = searchParams.get('query')?.startsWith('INSERT') === true;
    if (isInsert) noted.insertsAtOnce = Math.max(noted.insertsAtOnce, ++inserting);
    const { method, headers, url: path } = incoming;
    const passedOn = request(
      { host: target.hostname, port: target.port, path, method, headers },
      (answer) => {
        if (isInsert) inserting--;
        outgoing.writeHead(answer.statusCode ?? 500, answer.headers);
        answer.pipe(outgoing);
      },
    );
    incoming.pipe(passedOn);
  });
  const url = `http://127.0.0.1:${await listenHere(server)}${target.pathname}`;
  return { noted, url };
}

/** Ten inserts at once, and every other kind of statement. */
async function useAll(cluster: string | null) {
  const { noted, url } = await startRelay();
  const database = openForTest({ url, cluster });
  await database.command(numbers.createStatement());
  await Promise.all(Array.from({ length: 10 }, (_, n) => insertRows(database, numbers, [{ n }])));
  expect(await database.select('SELECT count() FROM numbers')).toEqual([[10]]);
  expect(await database.selectPlain(['n'], 'FROM numbers WHERE n = 3')).toEqual([['3']]);
  return noted;
}

describe('a database on a cluster', () => {
  it('asks for a majority with every insert and read', async () => {
    const { settings, insertsAtOnce } = await useAll('miner');
    expect(settings.length).toBeGreaterThan(12);
    expect(new Set(settings.map(String))).toEqual(new Set(['auto,0,1']));
    // Further ones into the same table would be refused.
    expect(insertsAtOnce).toBe(1);
  });

  it('stores the next rows after some that were refused', async () => {
    const { url } = await startRelay();
    const database = openForTest({ url, cluster: 'miner' });
    await database.command(numbers.createStatement());
    const refused = database.insertBlocks(numbers.name, Buffer.from('no block'));
    const stored = insertRows(database, numbers, [{ n: 1 }]);
    await expect(refused).rejects.toThrow();
    await stored;
    expect(await database.select('SELECT n FROM numbers')).toEqual([[1]]);
  });
});

it('a single server gets no settings for a quorum', async () => {
  expect(new Set((await useAll(null)).settings.map(String))).toEqual(new Set([',,']));
});
