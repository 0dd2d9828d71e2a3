import { fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import type { Series } from '../measureInterleaved.ts';
import { publishResults, type ResultTable } from '../results.ts';
import { inWorkspace } from '../workspace.ts';
import type { Restored, Saved, SnapshotTask } from './snapshotProcess.ts';

const program = fileURLToPath(new URL('./snapshotProcess.js', import.meta.url));
const sizes = [0.01, 0.1, 1];

interface YearsOptions {
  readonly owners: number;
}

/** Measures saving, keeping and restoring a generated chain state of years. Smaller states show how the cost grows. */
export async function measureYears(options: YearsOptions): Promise<void> {
  const measured: { readonly name: string; readonly saved: Saved; readonly restored: Restored }[] = [];
  for (const part of sizes) {
    const owners = Math.ceil(options.owners * part);
    await inWorkspace(async ({ dir }) => {
      const saved = await run<Saved>({ does: 'save', dir, owners });
      const restored = await run<Restored>({ does: 'restore', dir, owners });
      const name = `${owners.toLocaleString('en-US')} owners`;
      measured.push({ name, saved, restored });
      process.stderr.write(`${name}\n`);
    });
  }
  const buildTable = (
    title: string,
    unit: string,
    describe: (state: Saved & Restored) => Omit<Series, 'name'>,
  ): ResultTable => ({
    title,
    unit,
    isComparison: false,
    series: measured.map(({ name, saved, restored }) => ({ name, ...describe({ ...saved, ...restored }) })),
  });
  const tables = [
    buildTable('Save', 'ms', ({ saveMs, saveCpuMs, saveStallMs, bytes, bytesPerKeptBlock }) => ({
      values: saveMs,
      others: {
        'CPU ms of all threads': saveCpuMs,
        'longest stall ms': saveStallMs,
        bytes: [bytes],
        'heap bytes of a kept block with 5 changes': [bytesPerKeptBlock],
      },
    })),
    buildTable('Restore', 'ms', ({ restoreMs, restoreCpuMs, restoreStallMs, residentMiB, pageMs }) => ({
      values: [restoreMs],
      others: {
        'CPU ms of all threads': [restoreCpuMs],
        'longest stall ms': [restoreStallMs],
        'resident MiB': [residentMiB],
        'ms of a page of an owner without miners': pageMs,
      },
    })),
  ];
  publishResults({ command: 'years', tables });
}

async function run<Result>(task: SnapshotTask): Promise<Result> {
  const child = fork(program, { execArgv: ['--max-old-space-size=8192'] });
  const exited = once(child, 'exit').then(([status]) => {
    throw new Error(`the process for '${task.does}' ended with status ${status}`);
  });
  child.send(task);
  const [result] = await Promise.race([once(child, 'message'), exited]);
  await exited.catch(() => undefined);
  return result;
}
