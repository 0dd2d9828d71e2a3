import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** Where a benchmark writes, and what ends the processes it starts. */
interface Workspace {
  readonly dir: string;
  /** Registers what stops a process. */
  readonly onEnd: (stop: () => Promise<void>) => void;
}

/** Runs a benchmark in an empty folder. Then what it started is stopped, the last one first, and the folder is removed. */
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
