import { resolve } from 'node:path';
import { printResults, publishResults, type Results } from './results.ts';

export interface ProfileOptions {
  /** Folder for CPU profiles of the service (`.cpuprofile`, for the developer tools of a browser or an editor); left out for none. */
  readonly profile?: string | null;
}

/** Publishes results. Results of a profiled run are only printed, because the profiler takes part of the time. */
export function publishUnlessProfiled(profile: string | null, results: Results): void {
  if (profile === null) publishResults(results);
  else {
    printResults(results);
    process.stderr.write(`profiles: ${resolve(profile)}\n`);
  }
}

/** Arguments of node with which a process writes its CPU profile into a folder when it ends; none without a folder. */
export function profilerArguments(folder: string | null): string[] {
  return folder === null ? [] : ['--cpu-prof', `--cpu-prof-dir=${resolve(folder)}`];
}
