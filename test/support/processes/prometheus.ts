import { spawnSync } from 'node:child_process';
import { resolve } from 'node:path';

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
