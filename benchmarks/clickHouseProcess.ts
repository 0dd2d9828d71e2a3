import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { freePort } from './freePort.ts';

const startMs = 20_000;
const pollMs = 50;

/** A clickhouse-server of a benchmark, in a folder of its own. */
export interface ClickHouseProcess {
  readonly url: string;
  stop(): Promise<void>;
}

/** @throws Error when it does not answer within twenty seconds. */
export async function startClickHouseProcess(dir: string): Promise<ClickHouseProcess> {
  mkdirSync(dir, { recursive: true });
  const [httpPort, tcpPort] = [await freePort(), await freePort()];
  const configuration = writeClickHouseConfiguration(dir, { httpPort, tcpPort });
  const child = spawn('clickhouse-server', [`--config-file=${configuration}`], {
    stdio: 'ignore',
    cwd: dir,
    env: { PATH: `${process.env.PATH}:/usr/sbin` },
  });
  const exited = once(child, 'exit');
  const stop = async () => {
    child.kill('SIGTERM');
    await exited;
  };
  const url = `http://127.0.0.1:${httpPort}`;
  for (const deadlineMs = performance.now() + startMs; performance.now() < deadlineMs; await wait(pollMs)) {
    const answers = await fetch(`${url}/ping`).then(
      ({ ok }) => ok,
      () => false,
    );
    if (answers) return { url, stop };
  }
  await stop();
  throw new Error('clickhouse-server does not answer');
}

/**
 * A configuration of a clickhouse-server that keeps everything in one folder.
 *
 * @returns the path of the file.
 */
export function writeClickHouseConfiguration(
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
