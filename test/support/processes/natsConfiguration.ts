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
