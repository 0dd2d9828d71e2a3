import { writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { stringify } from 'yaml';
import { startProcess, untilReady } from './childProcess.ts';
import { findFreePort } from './findFreePort.mjs';
import { temporaryDirectory } from './temporaryDirectory.ts';

/** Folder of Debian's package as `npm test` unpacks it, since installing it would start a Prometheus. */
const unpacked = resolve(import.meta.dirname, '../../../node_modules/.cache/miner/prometheus/usr/bin');

/** A PATH that also finds the programs of Prometheus. */
export function findPrometheus(): string {
  return `${process.env.PATH}:${unpacked}`;
}

/** Starts a Prometheus that scrapes each target every second. */
export async function startPrometheus(targets: readonly string[]): Promise<{ readonly url: string }> {
  const dir = temporaryDirectory();
  const configuration = join(dir, 'prometheus.yaml');
  const job = {
    job_name: 'miner',
    scrape_interval: '1s',
    scrape_timeout: '1s',
    static_configs: [{ targets }],
  };
  writeFileSync(configuration, stringify({ scrape_configs: [job] }));
  const port = await findFreePort();
  const url = `http://127.0.0.1:${port}`;
  const server = startProcess(
    'prometheus',
    [
      `--config.file=${configuration}`,
      `--storage.tsdb.path=${join(dir, 'data')}`,
      `--web.listen-address=127.0.0.1:${port}`,
    ],
    { env: { PATH: findPrometheus() } },
  );
  await untilReady(server, async () => (await fetch(`${url}/-/ready`)).ok, 'Prometheus');
  return { url };
}
