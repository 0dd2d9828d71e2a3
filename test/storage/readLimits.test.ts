import { createHash } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { openDatabase } from '../../storage/database.ts';
import { readBytesMax, readSecondsMax } from '../../storage/readLimits.ts';
import { createCertificate } from '../support/processes/certificate.ts';
import { clickHouseServerAvailable, startClickHouseServer } from '../support/processes/clickHouseServer.ts';
import { findFreePort } from '../support/processes/findFreePort.mjs';
import { shareInFile, whenFinished } from '../support/processes/lifetime.ts';
import { temporaryDirectory } from '../support/processes/temporaryDirectory.ts';

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

  it('end at the limit', async () => {
    const database = (await useServer()).open('narrow');
    await expect(database.select('SELECT count() FROM system.numbers')).rejects.toThrow(
      /159|imeout exceeded/,
    );
    await expect(
      database.select(
        'SELECT length(groupArray(number)) FROM (SELECT number FROM system.numbers LIMIT 5000000)',
      ),
    ).rejects.toThrow(/241|emory limit/);
  });

  it.each(['reader', 'frozen'])('are all that the user %s may do', async (user) => {
    const { open } = await useServer();
    const database = open(user);
    expect(await database.select('SELECT 1')).toEqual([[1]]);
    for (const statement of [
      `CREATE TABLE forbidden_${user} (a UInt8) ENGINE = Memory`,
      'DROP TABLE IF EXISTS allowed',
      'SET readonly = 0',
    ])
      await expect(database.command(statement)).rejects.toThrow(/readonly/);
  });

  it('are refused with another password', async () => {
    const { open } = await useServer();
    await expect(open('nobody').select('SELECT 1')).rejects.toThrow(/192|516|Unknown user/);
  });

  it('go over TLS, to a server that can show who it is', async () => {
    const { open, certificate, httpsUrl } = await useServer();
    expect(await open('reader', httpsUrl, certificate).select('SELECT 1')).toEqual([[1]]);
    await expect(open('reader', httpsUrl).select('SELECT 1')).rejects.toThrow('self-signed certificate');
  });
});
