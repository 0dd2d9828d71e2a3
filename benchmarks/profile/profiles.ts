import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { printResults, publishResults, type Results } from '../results.ts';
import { type CpuProfile, drawFlameGraph } from './flameGraph.ts';

const profileEnd = '.cpuprofile';

export interface ProfileOptions {
  /** Folder for CPU profiles of the service, and their flame graphs; left out for none. */
  readonly profile?: string | null;
}

/** What was measured beside a profiler is printed only: it takes a part of the time. */
export function publishUnlessProfiled(profile: string | null, results: Results): void {
  if (profile === null) publishResults(results);
  else {
    printResults(results);
    drawProfiles(profile);
  }
}

/** Arguments of node with which a process writes its CPU profile into a folder when it ends; none without a folder. */
export function profilerArguments(folder: string | null): string[] {
  return folder === null ? [] : ['--cpu-prof', `--cpu-prof-dir=${resolve(folder)}`];
}

/** Draws each profile of a folder as a flame graph beside it, and says where. */
function drawProfiles(folder: string): void {
  mkdirSync(folder, { recursive: true });
  for (const name of readdirSync(folder).filter((one) => one.endsWith(profileEnd))) {
    const profile = JSON.parse(readFileSync(join(folder, name), 'utf8')) as CpuProfile;
    const drawing = join(folder, `${name.slice(0, -profileEnd.length)}.svg`);
    writeFileSync(drawing, drawFlameGraph(profile));
    process.stderr.write(`${drawing}\n`);
  }
}
