import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { root } from './deployFiles.ts';

/** Folder of Debian's package as `npm test` unpacks it, since installing it would start a Prometheus. */
const unpacked = join(root, 'node_modules/.cache/miner/prometheus/usr/bin');

/** Runs Prometheus' own checker. */
export function promtool(
  args: readonly string[],
  input = '',
): {
  readonly status: number | null;
  readonly output: string;
} {
  const { status, stdout, stderr, error } = spawnSync('promtool', args, {
    encoding: 'utf8',
    input,
    env: { ...process.env, PATH: `${process.env.PATH}:${unpacked}` },
  });
  if (error !== undefined)
    throw new Error('promtool is missing: install prometheus, or run `npm test`, which unpacks it', {
      cause: error,
    });
  return { status, output: `${stdout}${stderr}` };
}
