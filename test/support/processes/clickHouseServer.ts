import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type RestartableServer, startProcess, startRestartable, untilReady } from './childProcess.ts';
import { findFreePort } from './findFreePort.mjs';
import { temporaryDirectory } from './lifetime.ts';

const program =
  ['/usr/bin', '/usr/sbin'].map((folder) => join(folder, 'clickhouse-server')).find(existsSync) ?? null;

/** Whether Debian's clickhouse-server is installed. Otherwise, tests that need it are skipped. */
export function clickHouseServerAvailable(): boolean {
  return program !== null;
}

/** A real clickhouse-server for one test of the network path: Debian's version is too old for the tables. */
interface TestClickHouse extends RestartableServer {
  readonly url: string;
}

/** Starts a server that keeps everything in one folder. Profiles and users are in addition to the default ones, all in XML. */
export async function startClickHouseServer({
  profiles = '',
  users = '',
  settings = '',
} = {}): Promise<TestClickHouse> {
  const dir = temporaryDirectory();
  mkdirSync(join(dir, 'tmp'));
  const [httpPort, tcpPort] = [await findFreePort(), await findFreePort()];
  writeFileSync(
    join(dir, 'users.xml'),
    `<yandex><profiles><default><max_memory_usage>2000000000</max_memory_usage></default>${profiles}</profiles>
      <users><default><password></password><networks><ip>127.0.0.1</ip></networks>
      <profile>default</profile><quota>default</quota></default>${users}</users><quotas><default/></quotas></yandex>`,
  );
  const configuration = join(dir, 'config.xml');
  writeFileSync(
    configuration,
    `<yandex><logger><level>warning</level><log>${dir}/server.log</log><errorlog>${dir}/error.log</errorlog></logger>
      <http_port>${httpPort}</http_port><tcp_port>${tcpPort}</tcp_port><listen_host>127.0.0.1</listen_host>
      <path>${dir}/data/</path><tmp_path>${dir}/tmp/</tmp_path><users_config>${dir}/users.xml</users_config>
      <default_profile>default</default_profile><default_database>default</default_database>
      <mark_cache_size>67108864</mark_cache_size>${settings}</yandex>`,
  );
  const url = `http://127.0.0.1:${httpPort}`;
  const run = async () => {
    const server = startProcess(program ?? 'clickhouse-server', [`--config-file=${configuration}`], {
      cwd: dir,
    });
    const answers = async () => (await fetch(`${url}/ping`)).ok;
    await untilReady(server, answers, `clickhouse-server on ${url}`, () =>
      readIfThere(join(dir, 'error.log')),
    );
    return server;
  };
  return Object.assign(await startRestartable(run), { url });
}

function readIfThere(path: string): string {
  return existsSync(path) ? readFileSync(path, 'utf8') : '';
}
