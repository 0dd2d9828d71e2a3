import { fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { median } from '../measureInterleaved.ts';
import { publishResults } from '../results.ts';
import { inWorkspace } from '../workspace.ts';
import type { Restored, Saved, SnapshotTask } from './snapshotProcess.ts';

const program = fileURLToPath(new URL('./snapshotProcess.js', import.meta.url));
const sizes = [0.01, 0.1, 1];

interface YearsOptions {
  readonly positions: number;
  readonly events: number;
}

/** What a made-up chain state of years costs to save, to keep and to restore; smaller states show how that grows. */
export async function measureYears(options: YearsOptions): Promise<void> {
  const measured: { readonly name: string; readonly saved: Saved; readonly restored: Restored }[] = [];
  for (const part of sizes) {
    const positions = Math.ceil(options.positions * part);
    const ownerEvents = Math.ceil(options.events * part);
    await inWorkspace(async ({ dir }) => {
      const saved = await run<Saved>({ does: 'save', dir, positions, ownerEvents });
      const restored = await run<Restored>({ does: 'restore', dir, positions, ownerEvents });
      const name = `${positions.toLocaleString('en-US')} positions, ${ownerEvents.toLocaleString('en-US')} owner events`;
      measured.push({ name, saved, restored });
      process.stderr.write(`${name}\n`);
    });
  }
  const table = (
    title: string,
    unit: string,
    figure: (one: (typeof measured)[number]) => readonly number[],
  ) => ({
    title,
    unit,
    isLessBetter: true,
    isComparison: false,
    // In a small state all activity is in memory.
    series: measured.flatMap((one) => {
      const values = figure(one);
      return values.length === 0 ? [] : [{ name: one.name, values }];
    }),
  });
  const tables = [
    table('Increment of 100 changes', 'bytes', ({ saved }) => saved.increment.bytes),
    table('Event loop for an increment', 'ms', ({ saved }) => saved.increment.activeMs),
    table('Longest stall for an increment', 'ms', ({ saved }) => saved.increment.longestStallMs),
    table('Whole state', 'bytes', ({ saved }) => [saved.baseBytes]),
    table('Time to save a whole state', 'ms', ({ saved }) => [saved.baseMs]),
    table('Longest stall for a whole state', 'ms', ({ saved }) => [saved.baseStallMs]),
    table('Restore', 'ms', ({ restored }) => [restored.restoreMs]),
    table('CPU of a restore, of all threads', 'ms', ({ restored }) => [restored.restoreCpuMs]),
    table('Longest stall of a restore', 'ms', ({ restored }) => [restored.restoreStallMs]),
    table('Resident after a restore', 'MiB', ({ restored }) => [restored.residentMiB]),
    table('Page of the oldest activity', 'ms', ({ restored }) => restored.pageMs),
    table('Heap of a kept block with 5 changes', 'bytes', ({ saved }) => [saved.bytesPerKeptBlock]),
    {
      title: 'Growth against the state',
      unit: 'exponent',
      isComparison: false,
      series: [
        {
          name: 'event loop for an increment',
          values: [fitExponent(measured.map(({ saved }) => median(saved.increment.activeMs)))],
        },
        { name: 'restore', values: [fitExponent(measured.map(({ restored }) => restored.restoreMs))] },
      ],
    },
  ];
  // Small states have no page on disk.
  publishResults({ command: 'years', tables: tables.filter(({ series }) => series.length > 0) });
}

async function run<Result>(task: SnapshotTask): Promise<Result> {
  const child = fork(program, { execArgv: ['--max-old-space-size=8192'] });
  const exited = once(child, 'exit').then(([status]) => {
    throw new Error(`the process that was to ${task.does} ended with status ${status}`);
  });
  child.send(task);
  const [result] = await Promise.race([once(child, 'message'), exited]);
  await exited.catch(() => undefined);
  return result;
}

/** Of a power law through the values at {@link sizes}, by least squares of their logarithms. */
function fitExponent(values: readonly number[]): number {
  const points = values.map((value, index) => [Math.log(sizes[index] ?? 1), Math.log(value)] as const);
  const mean = (at: 0 | 1) => points.reduce((sum, point) => sum + point[at], 0) / points.length;
  const [meanX, meanY] = [mean(0), mean(1)];
  const covariance = points.reduce((sum, [x, y]) => sum + (x - meanX) * (y - meanY), 0);
  return covariance / points.reduce((sum, [x]) => sum + (x - meanX) ** 2, 0);
}
