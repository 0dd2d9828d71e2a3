import { execFileSync } from 'node:child_process';
import { resolve } from 'node:path';

/**
 * Builds the program before the first test, once for all projects and for tests that tests run: tests start the built program.
 */
export function setup(): void {
  if (process.env.MINER_TEST_BUILD === 'done') return;
  execFileSync(process.execPath, [resolve(import.meta.dirname, '../../../deploy/build/build.mjs')], {
    stdio: 'inherit',
  });
  process.env.MINER_TEST_BUILD = 'done';
}
