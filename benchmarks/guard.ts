import { spawnSync } from 'node:child_process';
import { type CompareOptions, measureVersions } from './compare.ts';
import { median, roundForTable } from './measureInterleaved.ts';
import { divideTurns, type ResultTable } from './results.ts';
import { cpuPerRequest } from './wrk.ts';

/** A warning needs three turns of four beyond this ratio: one turn says little on a shared machine. */
const ratioMax = 1.1;

/** Warns of requests that take more CPU time than in the last release, in the form of GitHub's workflows. Nothing fails, since a machine may be busy. */
export async function warnOfSlower({ rounds }: CompareOptions): Promise<void> {
  const release = findLastRelease();
  if (release === null) {
    process.stdout.write('nothing to compare with: no release is tagged\n');
    return;
  }
  const tables = await measureVersions(release, rounds);
  const warnings = findSlower(tables);
  for (const warning of warnings)
    process.stdout.write(`::warning title=more CPU time than ${release}::${warning}\n`);
  process.stdout.write(
    `${tables.length - warnings.length} of ${tables.length} requests take no more CPU time than in ${release}\n`,
  );
}

/** Newest release tag before this version; null without one. */
function findLastRelease(): string | null {
  const { status, stdout } = spawnSync('git', ['describe', '--tags', '--abbrev=0', '--match', 'v[0-9]*'], {
    encoding: 'utf8',
    cwd: import.meta.dirname,
  });
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
