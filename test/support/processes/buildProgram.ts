import { execFileSync } from 'node:child_process';
import { resolve } from 'node:path';

/**
 * Before the first test: tests start the built program, however they are run, so it is built from what is there, once for all projects and for
 * tests that tests run.
 */
export function setup(): void {
  if (process.env.MINER_TEST_BUILD === 'done') return;
  execFileSync(process.execPath, [resolve(import.meta.dirname, '../../../deploy/build/build.mjs')], {
    stdio: 'inherit',
  });
  process.env.MINER_TEST_BUILD = 'done';
}
