import { createHash } from 'node:crypto';
import { chmodSync, cpSync, mkdirSync, renameSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type DatabaseLocation, openDatabase } from '../../storage/clickhouse/database.ts';
import { DirectoryInUse, lockDirectory } from '../../storage/clickhouse/directoryLock.ts';
import { createPrivateDirectory } from '../../storage/clickhouse/privateDirectory.ts';
import { readBytesMax, readSecondsMax } from '../../storage/clickhouse/readLimits.ts';
import { isSupportedVersion, requireSupportedServer } from '../../storage/clickhouse/serverVersion.ts';
import { integer, string } from '../../storage/definition/column.ts';
import { sqlString } from '../../storage/definition/sqlString.ts';
import { defineTable, insertRows } from '../../storage/definition/table.ts';
import { migrate, migrationState, requireMigrated } from '../../storage/migration/migrate.ts';
import { migrations } from '../../storage/tables/migrations.ts';
import { createCertificate } from '../support/processes/certificate.ts';
import { clickHouseServerAvailable, startClickHouseServer } from '../support/processes/clickHouseServer.ts';
import { findFreePort } from '../support/processes/findFreePort.mjs';
import { shareInFile, temporaryDirectory, whenFinished } from '../support/processes/lifetime.ts';
import { silentLogger } from '../support/silentLogger.ts';
import { openForTest, useBothLocations } from '../support/storage/openTables.ts';

const texts = defineTable<{ readonly n: number; readonly text: string }>({
  name: 'texts',
  columns: { n: integer, text: string },
  engine: 'MergeTree()',
  orderBy: ['n'],
});

type Kind = readonly [name: string, locate: () => Promise<DatabaseLocation>];
const bothKinds: readonly Kind[] = useBothLocations();
/** Debian's server is too old for the tables, so it only shows that the network path works. It may not be installed. */
const debianServer: Kind = [
  "Debian's clickhouse-server",
  async () => ({ url: (await startClickHouseServer()).url }),
];

for (const [kind, locate] of [...bothKinds, debianServer]) {
  describe.skipIf(kind === debianServer[0] && !clickHouseServerAvailable())(`database: ${kind}`, () => {
    it('reads back any string and 64-bit integers as they were written', async () => {
      const database = openForTest(await locate());
      await database.command(texts.createStatement());
      const samples = fc.sample(fc.string({ unit: 'binary', maxLength: 60 }), { numRuns: 300, seed: 7 });
      const nasty = ["a'b", '\\', '\\N', '\t\n\r\0\b\f', "\\'", 'ü😀', ''];
      const all = [...nasty, ...samples].map((text) => Buffer.from(text, 'utf8').toString('utf8'));
      const rows = all.map((text, at) => ({ n: Number.MIN_SAFE_INTEGER + at, text }));
      await insertRows(database, texts, rows);
      const found = await database.select(`SELECT ${texts.list} FROM ${texts.name} ORDER BY n`);
      expect(found.map(texts.read)).toEqual(rows);
      for (const text of all.slice(0, 30)) {
        const [found] = await database.select(`SELECT count() FROM texts WHERE text = ${sqlString(text)}`);
        expect(Number(found?.[0])).toBe(all.filter((other) => other === text).length);
      }
    });

    it('reads large texts without JSON, also after a statement that failed midway', async () => {
      const database = openForTest(await locate());
      await database.command(texts.createStatement());
      const rows = Array.from({ length: 40 }, (_, n) => ({ n, text: 'QUJD'.repeat(50_000 + n) }));
      await insertRows(database, texts, rows);
      const read = () => database.selectPlain(texts.columns, `FROM ${texts.name} ORDER BY n`);
      expect((await read()).map(texts.read)).toEqual(rows);
      expect(await database.selectPlain(texts.columns, `FROM ${texts.name} WHERE n > 39`)).toEqual([]);
      // It fails behind its first rows.
      const failing = `FROM ${texts.name} WHERE throwIf(n = 39) = 0 ORDER BY n SETTINGS max_block_size = 1, max_threads = 1`;
      await expect(database.selectPlain(texts.columns, failing)).rejects.toThrow('throwIf');
      expect((await read()).map(texts.read)).toEqual(rows);
    });

    it('closes when the running statements have ended, and accepts no others', async () => {
      const database = openDatabase(await locate());
      let hasEnded = false;
      const running = database.select('SELECT sleep(1)').then(() => {
        hasEnded = true;
      });
      await database.close();
      expect(hasEnded).toBe(true);
      await running;
      await expect(database.select('SELECT 1')).rejects.toThrow('ClickHouse is closed');
    });

    it('distinguishes a wrong statement from an unavailable database', async () => {
      const database = openForTest(await locate());
      const read = (sql: string) => expect(database.select(sql)).rejects;
      await read('SELECT nothing').not.toHaveProperty('name', 'StoreUnavailable');
      // A table may come back.
      await read('SELECT 1 FROM nowhere').toMatchObject({
        name: 'StoreUnavailable',
        message: expect.stringContaining('ClickHouse lacks a table'),
      });
    });
  });
}

for (const [kind, locate] of bothKinds) {
  describe(`database: ${kind}`, () => {
    it('accepts values of any characters as parameters, and forgets them', async () => {
      const database = openForTest(await locate());
      const texts = fc.sample(fc.string({ unit: 'grapheme', maxLength: 40 }), { numRuns: 60, seed: 9 });
      for (const text of ["a'b", '\\', '\\N', '\t\n\r', "\\'", '{x:String}', '', ...texts]) {
        const [row] = await database.select('SELECT {text:String}, length({text:String})', { text });
        expect(row).toEqual([text, Buffer.byteLength(text)]);
        const list = [text, 'other'];
        const [found] = await database.select('SELECT {text:String} IN {list:Array(String)}', { text, list });
        expect(Number(found?.[0])).toBe(1);
      }
      // Settings of a call stay set for the session of the embedded engine: parameters must not.
      await expect(database.select('SELECT {text:String}')).rejects.toThrow(/text/);
      await database.command('CREATE TABLE numbered (n UInt64) ENGINE = MergeTree() ORDER BY n');
      await database.command('INSERT INTO numbered SELECT number FROM numbers({rows:UInt64})', { rows: 10 });
      await database.command(
        'ALTER TABLE numbered DELETE WHERE n > {above:UInt64} SETTINGS mutations_sync = 2',
        { above: 1 },
      );
      expect(await database.select('SELECT n FROM numbered ORDER BY n')).toEqual([[0], [1]]);
    });
  });
}

describe('database', () => {
  it('is unavailable if it does not answer', async () => {
    const database = openForTest({ url: 'http://127.0.0.1:9' });
    await expect(database.select('SELECT 1')).rejects.toMatchObject({ name: 'StoreUnavailable' });
  });

  it('refuses a database of a newer program', async () => {
    const database = openForTest();
    await migrate(database, silentLogger);
    const { known } = await migrationState(database);
    await insertRows(database, migrations, [{ number: known + 1, name: 'of the future' }]);
    await expect(migrate(database, silentLogger)).rejects.toMatchObject({
      kind: 'unusable',
      message: expect.stringContaining(`at migration ${known + 1}, this program knows ${known}`),
    });
    // During an upgrade, replicas of this version still read it.
    await requireMigrated(database);
  });

  it('refuses a directory that another living process holds', async () => {
    const path = temporaryDirectory();
    writeFileSync(`${path}/process.lock`, `${process.ppid} \n`);
    expect(() => openDatabase({ path })).toThrow(DirectoryInUse);
    expect(() => openDatabase({ path })).toThrow(`in use by process ${process.ppid}`);
    // The holder is gone, and another process has its number.
    writeFileSync(`${path}/process.lock`, `${process.ppid} 1\n`);
    lockDirectory(path)();
  });

  it('closes an existing directory to other users', () => {
    const path = temporaryDirectory();
    chmodSync(path, 0o755);
    createPrivateDirectory(path);
    expect(statSync(path).mode & 0o777).toBe(0o700);
  });

  it('is not held by the process of a copied directory’s original', () => {
    const folder = temporaryDirectory();
    const [original, copy, moved] = [join(folder, 'original'), join(folder, 'copy'), join(folder, 'moved')];
    mkdirSync(original);
    const { ino } = statSync(original);
    writeFileSync(join(original, 'process.lock'), `${process.ppid}  ${ino} ${original}\n`);
    cpSync(original, copy, { recursive: true });
    expect(() => lockDirectory(original)).toThrow(DirectoryInUse);
    writeFileSync(join(original, 'process.lock'), `${process.ppid}  ${ino + 1} ${original}\n`);
    expect(() => lockDirectory(original)).toThrow(DirectoryInUse);
    writeFileSync(join(original, 'process.lock'), `${process.ppid}  ${ino} ${original}\n`);
    lockDirectory(copy)();
    renameSync(original, moved);
    expect(() => lockDirectory(moved)).toThrow(DirectoryInUse);
  });

  it('is of a supported version from 24.8 on', async () => {
    for (const version of ['24.8.1.2684', '24.10.1', '25.1', '26.7.2.1'])
      expect([version, isSupportedVersion(version)]).toEqual([version, true]);
    const old = requireSupportedServer({ select: async () => [['18.16.1']] } as never);
    await expect(old).rejects.toMatchObject({ kind: 'unusable', exitStatus: 2 });
    for (const version of ['18.16.1', '23.12.1', '24.3.5', '24.7.9', 'unknown'])
      expect([version, isSupportedVersion(version)]).toEqual([version, false]);
  });
});

const password = 'p@ss/word:1';

function describeUser(name: string): string {
  const digest = createHash('sha256').update(password).digest('hex');
  return `<${name}><password_sha256_hex>${digest}</password_sha256_hex><networks><ip>127.0.0.1</ip></networks>
    <profile>${name}</profile><quota>default</quota></${name}>`;
}

/** Profiles as in deploy/clickhouse/users.yaml, and others that operators may have. */
const profiles = {
  unlimited: '<max_memory_usage>0</max_memory_usage>',
  narrow: '<max_execution_time>1</max_execution_time><max_memory_usage>20000000</max_memory_usage>',
  reader: '<readonly>2</readonly><max_execution_time>60</max_execution_time>',
  frozen: '<readonly>1</readonly><max_execution_time>60</max_execution_time>',
};

const useServer = shareInFile(async () => {
  const dir = temporaryDirectory();
  const { certificate, key } = createCertificate(dir, 'localhost');
  const httpsPort = await findFreePort();
  const server = await startClickHouseServer({
    profiles: Object.entries(profiles)
      .map(([name, settings]) => `<${name}>${settings}</${name}>`)
      .join(''),
    users: Object.keys(profiles).map(describeUser).join(''),
    settings: `<https_port>${httpsPort}</https_port><openSSL><server><certificateFile>${certificate}</certificateFile>
      <privateKeyFile>${key}</privateKeyFile><verificationMode>none</verificationMode></server></openSSL>`,
  });
  const open = (user: string, base = server.url, caFile: string | null = null) => {
    const url = new URL(base);
    Object.assign(url, { username: user, password: encodeURIComponent(password), pathname: '/default' });
    const database = openDatabase({ url: url.href, caFile });
    whenFinished(() => database.close());
    return database;
  };
  return { open, certificate, httpsUrl: `https://localhost:${httpsPort}` };
});

describe.skipIf(!clickHouseServerAvailable())('reads from a ClickHouse server', () => {
  async function limitsOf(user: string): Promise<number[]> {
    const database = (await useServer()).open(user);
    const rows = await database.select(
      "SELECT value FROM system.settings WHERE name IN ('max_execution_time', 'max_memory_usage') ORDER BY name",
    );
    return rows.map(([value]) => Number(value));
  }

  it('have limits where their user has none or wider ones', async () => {
    expect(await limitsOf('unlimited')).toEqual([readSecondsMax, readBytesMax]);
    expect(await limitsOf('reader')).toEqual([readSecondsMax, readBytesMax]);
    expect(await limitsOf('narrow')).toEqual([1, 20_000_000]);
  });

  it('work for a user who may change no setting', async () => {
    expect((await limitsOf('frozen'))[0]).toBe(60);
  });

  it('go over TLS, to a server that can show who it is', async () => {
    const { open, certificate, httpsUrl } = await useServer();
    expect(await open('reader', httpsUrl, certificate).select('SELECT 1')).toEqual([[1]]);
    await expect(open('reader', httpsUrl).select('SELECT 1')).rejects.toThrow('self-signed certificate');
  });
});
