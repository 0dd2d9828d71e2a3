import { spawnSync } from 'node:child_process';
import { findPrometheus } from '../../support/processes/prometheus.ts';

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
    env: { ...process.env, PATH: findPrometheus() },
  });
  if (error !== undefined)
    throw new Error('promtool is missing: install prometheus, or run `npm test`, which unpacks it', {
      cause: error,
    });
  return { status, output: `${stdout}${stderr}` };
}
