import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/**
 * Writes a configuration of a nats-server with JetStream that keeps everything in one folder.
 *
 * @param settings further lines.
 * @param jetStream further settings of JetStream.
 * @returns the path of the file.
 */
export function writeNatsConfiguration(dir: string, port: number, settings = '', jetStream = ''): string {
  mkdirSync(dir, { recursive: true });
  const configuration = join(dir, 'nats.conf');
  writeFileSync(
    configuration,
    `listen: "127.0.0.1:${port}"\njetstream { store_dir: "${join(dir, 'store')}"\n${jetStream} }\n${settings}\n`,
  );
  return configuration;
}

export interface ClickHouseServerSettings {
  readonly httpPort: number;
  readonly tcpPort: number;
  /** Profiles and users in addition to the default ones, in XML. */
  readonly profiles?: string;
  readonly users?: string;
  /** Further settings of the server, in XML. */
  readonly settings?: string;
}

/**
 * Writes a configuration of a clickhouse-server that keeps everything in one folder.
 *
 * @returns the path of the file.
 */
export function writeClickHouseConfiguration(
  dir: string,
  { httpPort, tcpPort, profiles = '', users = '', settings = '' }: ClickHouseServerSettings,
): string {
  mkdirSync(join(dir, 'tmp'), { recursive: true });
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
  return configuration;
}
