import { spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { startProcess, untilReady } from './childProcess.ts';
import { findFreePort } from './findFreePort.mjs';
import { temporaryDirectory } from './temporaryDirectory.ts';

/** Folder of Debian's package as `npm test` unpacks it, since installing it would start a Prometheus. */
const unpacked = resolve(import.meta.dirname, '../../../node_modules/.cache/miner/prometheus/usr/bin');

const env = { ...process.env, PATH: `${process.env.PATH}:${unpacked}` };

interface PromtoolResult {
  readonly status: number | null;
  readonly output: string;
}

/** Runs Prometheus' own checker. */
export function promtool(args: readonly string[], input = ''): PromtoolResult {
  const { status, stdout, stderr, error } = spawnSync('promtool', args, { encoding: 'utf8', input, env });
  if (error !== undefined)
    throw new Error('promtool is missing: install prometheus, or run `npm test`, which unpacks it', {
      cause: error,
    });
  return { status, output: `${stdout}${stderr}` };
}

/** Starts a Prometheus that scrapes each target every second. */
export async function startPrometheus(targets: readonly string[]): Promise<{ readonly url: string }> {
  const dir = temporaryDirectory();
  const configuration = join(dir, 'prometheus.json');
  const job = {
    job_name: 'miner',
    scrape_interval: '1s',
    scrape_timeout: '1s',
    static_configs: [{ targets }],
  };
  writeFileSync(configuration, JSON.stringify({ scrape_configs: [job] }));
  const port = await findFreePort();
  const url = `http://127.0.0.1:${port}`;
  const server = startProcess(
    'prometheus',
    [
      `--config.file=${configuration}`,
      `--storage.tsdb.path=${join(dir, 'data')}`,
      `--web.listen-address=127.0.0.1:${port}`,
    ],
    { env },
  );
  await untilReady(server, async () => (await fetch(`${url}/-/ready`)).ok, 'Prometheus');
  return { url };
}
