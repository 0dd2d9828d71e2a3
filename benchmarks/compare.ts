import { spawnSync } from 'node:child_process';
import { cpSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { fillData } from './filledData.ts';
import { measureCases, pollingCases } from './pollingCases.ts';
import { printResults, type ResultTable } from './results.ts';
import { minerProgram, startServiceProcess } from './serviceProcess.ts';
import { inWorkspace } from './workspace.ts';
import { serverCore } from './wrk.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));

export interface CompareOptions {
  readonly rounds: number;
}

/** Prints polling figures of this version and of another one. */
export async function compareVersions(reference: string, { rounds }: CompareOptions): Promise<void> {
  printResults({ tables: await measureVersions(reference, rounds) });
}

/**
 * Measures this version and another one, in turns, over the same messages. The other version is built in its own folder, with this version's packages.
 *
 * @param reference a commit, branch or tag.
 * @returns A table for each request: this version, then the other one.
 * @throws Error if git does not know it, or it cannot be built.
 */
export function measureVersions(reference: string, rounds: number): Promise<ResultTable[]> {
  return inWorkspace(async ({ dir, onEnd }) => {
    const checkout = join(dir, 'checkout');
    run('git', ['worktree', 'add', '--quiet', '--detach', checkout, reference], root);
    onEnd(async () => {
      spawnSync('git', ['worktree', 'remove', '--force', checkout], { cwd: root });
    });
    symlinkSync(join(root, 'node_modules'), join(checkout, 'node_modules'));
    run('npm', ['run', 'build', '--', 'deploy'], checkout);
    const environment = await fillData(join(dir, 'this'));
    // Only the messages: each version folds them into its own tables.
    cpSync(join(dir, 'this/nats'), join(dir, 'other/nats'), { recursive: true });
    const services: { name: string; url: string; pid: number }[] = [];
    for (const [name, program, data] of [
      ['this version', minerProgram, 'this'],
      [reference, join(checkout, 'dist/deploy/miner.js'), 'other'],
    ] as const) {
      const settings = { dir: join(dir, data), environment, program, core: serverCore };
      const service = await startServiceProcess(settings);
      onEnd(service.stop);
      await service.readyAfterMs();
      services.push({ name, url: service.publicUrl, pid: service.pid });
    }
    return measureCases(pollingCases, rounds, () => services);
  });
}

/** @throws Error with the program's output if it fails. */
function run(program: string, args: readonly string[], cwd: string) {
  const { status, stderr } = spawnSync(program, args, { cwd, encoding: 'utf8' });
  if (status !== 0) throw new Error(`${[program, ...args].join(' ')} failed: ${stderr}`);
}
