import { accessSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { eventually, startProcess } from './childProcess.ts';
import { freePort } from './freePort.ts';
import { temporaryDirectory } from './temporaryDirectory.ts';

const program = '/usr/bin/clickhouse-server';

/** Whether Debian's clickhouse-server is installed; where it cannot be, tests that need it say so and are skipped. */
export function clickHouseServerAvailable(): boolean {
  try {
    accessSync(programPath());
    return true;
  } catch {
    return false;
  }
}

function programPath(): string {
  for (const path of [program, '/usr/sbin/clickhouse-server']) {
    try {
      accessSync(path);
      return path;
    } catch {
      // Not here.
    }
  }
  return program;
}

/** A real clickhouse-server of one test, for the network path: Debian's version is too old for the tables. */
export interface TestClickHouse {
  readonly url: string;
  readonly pid: number;
  kill(signal?: NodeJS.Signals): Promise<void>;
  start(): Promise<void>;
}

export async function startClickHouseServer(): Promise<TestClickHouse> {
  const dir = temporaryDirectory();
  const [httpPort, tcpPort] = [await freePort(), await freePort()];
  const configuration = writeClickHouseConfiguration(dir, { httpPort, tcpPort });
  const url = `http://127.0.0.1:${httpPort}`;
  const run = async () => {
    const server = startProcess(programPath(), [`--config-file=${configuration}`], { cwd: dir });
    await eventually(async () => (await fetch(`${url}/ping`)).ok, `clickhouse-server on ${url}`);
    return server;
  };
  let server = await run();
  return {
    url,
    get pid() {
      return server.pid;
    },
    kill: async (signal = 'SIGKILL') => {
      await server.end(signal);
    },
    start: async () => {
      server = await run();
    },
  };
}

/**
 * A configuration of a clickhouse-server that keeps everything in one folder.
 *
 * @returns the path of the file.
 */
function writeClickHouseConfiguration(
  dir: string,
  { httpPort, tcpPort }: { readonly httpPort: number; readonly tcpPort: number },
): string {
  mkdirSync(join(dir, 'tmp'), { recursive: true });
  writeFileSync(
    join(dir, 'users.xml'),
    `<yandex><profiles><default><max_memory_usage>2000000000</max_memory_usage></default></profiles>
      <users><default><password></password><networks><ip>127.0.0.1</ip></networks>
      <profile>default</profile><quota>default</quota></default></users><quotas><default/></quotas></yandex>`,
  );
  const configuration = join(dir, 'config.xml');
  writeFileSync(
    configuration,
    `<yandex><logger><level>warning</level><log>${dir}/server.log</log><errorlog>${dir}/error.log</errorlog></logger>
      <http_port>${httpPort}</http_port><tcp_port>${tcpPort}</tcp_port><listen_host>127.0.0.1</listen_host>
      <path>${dir}/data/</path><tmp_path>${dir}/tmp/</tmp_path><users_config>${dir}/users.xml</users_config>
      <default_profile>default</default_profile><default_database>default</default_database>
      <mark_cache_size>67108864</mark_cache_size></yandex>`,
  );
  return configuration;
}
