import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** Folder of a benchmark, and the end of its processes. */
interface Workspace {
  readonly dir: string;
  /** Registers a function that stops a process. */
  readonly onEnd: (stop: () => Promise<void>) => void;
}

/** Runs a benchmark in an empty folder. Then stops its processes, the last one first, and removes the folder. */
export async function inWorkspace<Result>(run: (workspace: Workspace) => Promise<Result>): Promise<Result> {
  const dir = mkdtempSync(join(tmpdir(), 'miner-bench-'));
  const stops: (() => Promise<void>)[] = [];
  try {
    return await run({ dir, onEnd: (stop) => stops.push(stop) });
  } finally {
    for (const stop of stops.reverse()) await stop();
    rmSync(dir, { recursive: true, force: true });
  }
}
