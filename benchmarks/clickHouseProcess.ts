import { spawn } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { awaitFirstAnswer, createStopper, serverPath } from './childServer.ts';
import { findFreePort } from './findFreePort.ts';

/** A clickhouse-server of a benchmark, in a folder of its own. */
export interface ClickHouseProcess {
  readonly url: string;
  stop(): Promise<void>;
}

/** @throws Error when it does not answer in time. */
export async function startClickHouseProcess(dir: string): Promise<ClickHouseProcess> {
  mkdirSync(dir, { recursive: true });
  const [httpPort, tcpPort] = [await findFreePort(), await findFreePort()];
  const configuration = writeClickHouseConfiguration(dir, { httpPort, tcpPort });
  const child = spawn('clickhouse-server', [`--config-file=${configuration}`], {
    stdio: 'ignore',
    cwd: dir,
    env: { PATH: serverPath },
  });
  const stop = createStopper(child);
  const url = `http://127.0.0.1:${httpPort}`;
  const ping = async () => {
    const { ok } = await fetch(`${url}/ping`);
    if (!ok) throw new Error('not available yet');
  };
  await awaitFirstAnswer('clickhouse-server', ping, stop);
  return { url, stop };
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
