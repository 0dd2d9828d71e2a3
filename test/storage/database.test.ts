import fc from 'fast-check';
import { describe, expect, it, onTestFinished } from 'vitest';
import { type Database, openDatabase } from '../../storage/database.ts';
import { DirectoryInUse } from '../../storage/directoryLock.ts';
import { migrate } from '../../storage/migrations.ts';
import { integer, string } from '../../storage/tables/column.ts';
import { migrations } from '../../storage/tables/migrations.ts';
import { defineTable, insertRows } from '../../storage/tables/table.ts';
import { sqlString } from '../../storage/tabSeparated.ts';
import { clickHouseServerAvailable, startClickHouseServer } from '../support/processes/clickHouseServer.ts';
import { temporaryDirectory } from '../support/processes/temporaryDirectory.ts';
import { silentLogger } from '../support/silentLogger.ts';

const texts = defineTable<{ readonly n: number; readonly text: string }>({
  name: 'texts',
  columns: { n: integer, text: string },
  engine: 'MergeTree()',
  orderBy: ['n'],
});

const kinds: { kind: string; open: () => Promise<Database>; isHere: boolean }[] = [
  { kind: 'embedded', isHere: true, open: async () => openDatabase({ path: temporaryDirectory() }) },
  {
    kind: "Debian's clickhouse-server (not installed here where skipped)",
    isHere: clickHouseServerAvailable(),
    open: async () => openDatabase({ url: (await startClickHouseServer()).url }),
  },
];

for (const { kind, open, isHere } of kinds) {
  describe.skipIf(!isHere)(`database: ${kind}`, () => {
    const opened = async () => {
      const database = await open();
      onTestFinished(() => database.close());
      return database;
    };

    it('reads back any string and 64-bit integers as they were written', async () => {
      const database = await opened();
      await database.command(texts.createStatement());
      const samples = fc.sample(fc.string({ unit: 'binary', maxLength: 60 }), { numRuns: 300, seed: 7 });
      const nasty = ["a'b", '\\', '\\N', '\t\n\r\0\b\f', "\\'", 'ü😀', ''];
      const all = [...nasty, ...samples].map((text) => Buffer.from(text, 'utf8').toString('utf8'));
      const rows = all.map((text, at) => ({ n: Number.MIN_SAFE_INTEGER + at, text }));
      await insertRows(database, texts, rows);
      const found = await database.select(`SELECT ${texts.list} FROM ${texts.name} ORDER BY n`);
      expect(found.map(texts.read)).toEqual(rows);
      for (const text of all.slice(0, 60)) {
        const [found] = await database.select(`SELECT count() FROM texts WHERE text = ${sqlString(text)}`);
        expect(Number(found?.[0])).toBe(all.filter((other) => other === text).length);
      }
    });

    it('closes when the statements that run have ended, and takes no others', async () => {
      const database = await open();
      let hasEnded = false;
      const running = database.select('SELECT sleep(1)').then(() => {
        hasEnded = true;
      });
      await database.close();
      expect(hasEnded).toBe(true);
      await running;
      await expect(database.select('SELECT 1')).rejects.toThrow('ClickHouse is closed');
    });

    it('migrates an empty database, and again without a change', async () => {
      const database = await opened();
      const tables = await migrate(database, silentLogger);
      expect(await migrate(database, silentLogger)).toEqual(tables);
      expect(await database.select('SELECT number FROM migrations')).toHaveLength(5);
    });

    it('completes a migration that was killed between two statements', async () => {
      const database = await opened();
      const tables = await migrate(database, silentLogger);
      await database.command('DROP TABLE migrations');
      await database.command(`DROP TABLE ${tables.rounds}`);
      await migrate(database, silentLogger);
      expect(await database.select(`SELECT * FROM ${tables.rounds}`)).toEqual([]);
    });

    it('refuses a database of a newer program', async () => {
      const database = await opened();
      await migrate(database, silentLogger);
      await insertRows(database, migrations, [{ number: 99, name: 'of the future' }]);
      await expect(migrate(database, silentLogger)).rejects.toThrow('at migration 99, this program knows 5');
    });

    it('tells a wrong statement from a database that is away', async () => {
      const database = await opened();
      await expect(database.select('SELECT nothing FROM nowhere')).rejects.not.toHaveProperty(
        'name',
        'StorageUnavailable',
      );
    });
  });
}

describe('database', () => {
  it('that does not answer is unavailable', async () => {
    const database = openDatabase({ url: 'http://127.0.0.1:9' });
    onTestFinished(() => database.close());
    await expect(database.select('SELECT 1')).rejects.toMatchObject({ name: 'StorageUnavailable' });
  });

  it('refuses a directory that another living process holds', async () => {
    const path = temporaryDirectory();
    const { writeFileSync } = await import('node:fs');
    writeFileSync(`${path}/process.lock`, `${process.ppid} \n`);
    expect(() => openDatabase({ path })).toThrow(DirectoryInUse);
    expect(() => openDatabase({ path })).toThrow(`in use by process ${process.ppid}`);
  });
});
