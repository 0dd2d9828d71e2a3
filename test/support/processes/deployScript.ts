import { execFileSync } from 'node:child_process';
import { join, resolve } from 'node:path';

const deployDir = resolve(import.meta.dirname, '../../../deploy');

/**
 * Runs a script of deploy/ as an operator does.
 *
 * @returns its output.
 * @throws Error with its errors.
 */
export function runDeployScript(name: string, ...args: readonly string[]): string {
  return execFileSync(process.execPath, [join(deployDir, name), ...args], {
    encoding: 'utf8',
    stdio: 'pipe',
  });
}
