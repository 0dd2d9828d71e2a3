import { spawnSync } from 'node:child_process';
import { cpSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { fillData } from './filledData.ts';
import { median, roundForTable } from './measureInterleaved.ts';
import { measureCases, pollingCases } from './pollingCases.ts';
import { divideTurns, printResults, type ResultTable } from './results.ts';
import { minerProgram, startServiceProcess } from './serviceProcess.ts';
import { inWorkspace } from './workspace.ts';
import { cpuPerRequest, serverCore } from './wrk.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));
/** A warning needs three turns of four beyond this ratio: one turn says little on a shared machine. */
const ratioMax = 1.1;

/**
 * Prints polling figures of this version and of another one, by default the newest release. Warns of requests that take more CPU time, in the form of
 * GitHub's workflows. Nothing fails, since a machine may be busy.
 */
export async function compareVersions(
  reference: string | undefined,
  { rounds }: { readonly rounds: number },
): Promise<void> {
  const other = reference ?? findLastRelease();
  if (other === null) {
    process.stdout.write('nothing to compare with: no release is tagged\n');
    return;
  }
  const tables = await measureVersions(other, rounds);
  printResults({ tables });
  for (const warning of findSlower(tables))
    process.stdout.write(`::warning title=more CPU time than ${other}::${warning}\n`);
}

/** Newest release tag before this version; null without one. */
function findLastRelease(): string | null {
  const args = ['describe', '--tags', '--abbrev=0', '--match', 'v[0-9]*'];
  const { status, stdout } = spawnSync('git', args, { encoding: 'utf8', cwd: root });
  return status === 0 ? stdout.trim() : null;
}

/** One line for each request whose first server takes clearly more than the second one. */
export function findSlower(tables: readonly Pick<ResultTable, 'title' | 'series'>[]): string[] {
  return tables.flatMap(({ title, series }) => {
    const [own = [], other = []] = series.map(({ others }) => others?.[cpuPerRequest]);
    const ratios = divideTurns(own, other);
    const slower = ratios.filter((ratio) => ratio > ratioMax);
    if (slower.length === 0 || slower.length < (ratios.length * 3) / 4) return [];
    return [`${title}: ${roundForTable(median(ratios))} times (median of ${ratios.length} turns)`];
  });
}

/**
 * Measures this version and another one, in turns, over the same messages. The other version is built in its own folder, with this version's packages.
 *
 * @param reference a commit, branch or tag.
 * @returns A table for each request: this version, then the other one.
 * @throws Error if git does not know it, or it cannot be built.
 */
function measureVersions(reference: string, rounds: number): Promise<ResultTable[]> {
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
