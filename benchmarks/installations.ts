import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { bindToParent } from '../deploy/local/bindToParent.ts';
import type { InstallationsMeasured, InstallationsTask } from './installationsProcess.ts';
import { pinToCore } from './pinToCore.ts';
import { publishResults } from './results.ts';

const program = fileURLToPath(new URL('./installationsProcess.js', import.meta.url));
const mebibyte = 1024 * 1024;

export interface InstallationsOptions {
  readonly installations: number;
  /** One reading of each installation in each. */
  readonly seconds: number;
  readonly rounds: number;
}

/** Folds readings of many installations on one core, through the pipeline of the service into the embedded ClickHouse. */
export async function measureInstallations(options: InstallationsOptions): Promise<void> {
  const { installations, seconds, rounds } = options;
  const measured: InstallationsMeasured[] = [];
  for (let round = 0; round < rounds; round++) {
    measured.push(await runOnce({ installations, seconds }));
    process.stderr.write(`${round + 1} of ${rounds}\n`);
  }
  const table = (title: string, unit: string, values: readonly number[], isLessBetter = true) => ({
    title,
    unit,
    isLessBetter,
    isComparison: false,
    series: [{ name: `${installations.toLocaleString('en-US')} installations`, values }],
  });
  const increments = measured.flatMap((one) => one.increments);
  publishResults({
    command: 'installations',
    about:
      `${(installations * seconds).toLocaleString('en-US')} readings, one per second of each installation, each with a day of rounds behind it; one process on one core, ` +
      'with the embedded ClickHouse in it. CPU time is that of all of its threads, without the making up of messages; an increment is that of a minute, in which all installations change. The peak holds what makes up the first state, too.',
    tables: [
      table(
        'Readings that a core carries',
        'readings per second of CPU',
        measured.map((one) => one.readingsPerCpuSecond),
        false,
      ),
      table(
        'Heap of an installation',
        'bytes',
        measured.map((one) => one.bytesEach),
      ),
      table(
        'Whole state',
        'bytes',
        measured.map((one) => one.baseBytes),
      ),
      table(
        'Increment of a minute',
        'bytes',
        measured.map((one) => one.incrementBytes),
      ),
      table(
        'Event loop for an increment',
        'ms',
        increments.map((one) => one.activeMs),
      ),
      table(
        'Longest stall for an increment',
        'ms',
        increments.map((one) => one.longestStallMs),
      ),
      table(
        'Peak of the resident memory',
        'MiB',
        measured.map((one) => one.peakBytes / mebibyte),
      ),
    ],
  });
}

async function runOnce(size: Omit<InstallationsTask, 'dir'>): Promise<InstallationsMeasured> {
  const dir = mkdtempSync(join(tmpdir(), 'miner-bench-'));
  try {
    const [command, ...args] = pinToCore(0, [process.execPath, program]);
    const child = spawn(...bindToParent(command, args), { stdio: ['ignore', 'inherit', 'inherit', 'ipc'] });
    const exited = once(child, 'exit').then(([status]) => {
      throw new Error(`the process that folds ended with status ${status}`);
    });
    child.send({ ...size, dir });
    const [result] = await Promise.race([once(child, 'message'), exited]);
    await exited.catch(() => undefined);
    return result;
  } finally {
    rmSync(dir, { recursive: true, force: true });
  }
}
