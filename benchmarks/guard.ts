import { spawnSync } from 'node:child_process';
import { type ComparedCase, type CompareOptions, measureVersions } from './compare.ts';
import { median, roundForTable } from './measureInterleaved.ts';

/** Beyond it three turns of four must lie for a warning: one turn says little on a shared machine. */
const ratioMax = 1.1;

/** Warns of requests that take more CPU time than in the last release, in a form that GitHub's workflows show. Nothing fails: a machine may be busy. */
export async function warnOfSlower({ rounds }: CompareOptions): Promise<void> {
  const release = findLastRelease();
  if (release === null) {
    process.stdout.write('nothing to compare with: no release is tagged\n');
    return;
  }
  const compared = await measureVersions(release, rounds);
  const warnings = findSlower(compared);
  for (const warning of warnings)
    process.stdout.write(`::warning title=more CPU time than ${release}::${warning}\n`);
  process.stdout.write(
    `${compared.length - warnings.length} of ${compared.length} requests take no more CPU time than in ${release}\n`,
  );
}

/** The newest tag of a release before this version; null without one. */
function findLastRelease(): string | null {
  const { status, stdout } = spawnSync('git', ['describe', '--tags', '--abbrev=0', '--match', 'v[0-9]*'], {
    encoding: 'utf8',
    cwd: import.meta.dirname,
  });
  return status === 0 ? stdout.trim() : null;
}

/** One line for each request that takes clearly more. */
export function findSlower(compared: readonly ComparedCase[]): string[] {
  return compared
    .filter(({ cpu }) => {
      const slower = cpu.filter((ratio) => ratio > ratioMax);
      return cpu.length > 0 && slower.length >= (cpu.length * 3) / 4;
    })
    .map(({ title, cpu }) => `${title}: ${roundForTable(median(cpu))} times (median of ${cpu.length} turns)`);
}
