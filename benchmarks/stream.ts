import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { counterSubject } from '../actors/messages/subjects.ts';
import { createCounterActors } from '../actors/wheel/counterActors.ts';
import { delaysTable, measureReadingDelays } from './delays.ts';
import type { Series } from './measureInterleaved.ts';
import { genesisMs, readingBody } from './readingLoad.ts';
import { publishResults, type ResultTable } from './results.ts';
import { startServiceProcess } from './serviceProcess.ts';

const installationId = 'wheel-0';
const intervalMs = 10_000;
/** Folded together, so that making them is not measured. */
const madeAtOnce = 5_000;
const growingReadings = [25_000, 50_000, 100_000, 200_000];
const growingInstallations = [1, 10, 100, 1_000, 10_000];
const measuredInstallations = [1, 1_000, 10_000];
const readingsOfGrowth = 100_000;
const readingsOfEach = 10;

export interface StreamOptions {
  readonly rounds: number;
}

/** How long a reading takes to the route, and how time and memory of the folds grow. */
export async function measureStream({ rounds }: StreamOptions): Promise<void> {
  const dir = mkdtempSync(join(tmpdir(), 'miner-bench-'));
  try {
    const tables = [await delays(dir, rounds), measureInstallationBytes(rounds), measureGrowth(rounds)];
    publishResults({ command: 'stream', tables });
  } finally {
    rmSync(dir, { recursive: true, force: true });
  }
}

/** From the publication of a reading to a route that shows it, and to a client that merely consumes. */
async function delays(dir: string, rounds: number): Promise<ResultTable> {
  const service = await startServiceProcess({ dir, installationId });
  try {
    await service.readyAfterMs();
    const series = await measureReadingDelays({ ...service, installationId }, rounds);
    return { ...delaysTable, series };
  } finally {
    await service.stop();
  }
}

/** Bytes that the folds hold for each installation. */
function measureInstallationBytes(rounds: number): ResultTable {
  const series = measuredInstallations.map((count) => ({
    name: `${count.toLocaleString('en-US')} installations`,
    values: repeat(rounds, () => measureHeldBytes(count, readingsOfEach) / count),
  }));
  return { title: 'Memory of the folds', unit: 'bytes an installation', isComparison: false, series };
}

/** Exponents of powers that fit what was measured: 1 is proportional, 0 does not grow. */
function measureGrowth(rounds: number): ResultTable {
  const series: Series[] = [
    {
      name: `time, with readings (${growingReadings[0]} to ${growingReadings.at(-1)})`,
      values: repeat(rounds, () => fitExponent(growingReadings, (count) => foldMs(1, count))),
    },
    {
      name: 'time of the same readings, with installations (1 to 10,000)',
      values: repeat(rounds, () =>
        fitExponent(growingInstallations, (count) => foldMs(count, readingsOfGrowth / count)),
      ),
    },
    {
      name: 'memory, with installations (100 to 10,000)',
      values: repeat(rounds, () =>
        fitExponent([100, 1_000, 10_000], (count) => measureHeldBytes(count, readingsOfEach)),
      ),
    },
    {
      name: 'memory of 100 installations, with readings (10 to 1,000 each)',
      values: repeat(rounds, () => fitExponent([10, 100, 1_000], (count) => measureHeldBytes(100, count))),
    },
  ];
  return { title: 'Growth of the folds', unit: 'exponent', isComparison: false, series };
}

function repeat(times: number, measure: () => number): number[] {
  measure();
  return Array.from({ length: times }, measure);
}

/** Slope of the line through the logarithms. */
function fitExponent(sizes: readonly number[], measure: (size: number) => number): number {
  const points = sizes.map((size) => [Math.log(size), Math.log(measure(size))] as const);
  const mean = (axis: 0 | 1) => points.reduce((sum, point) => sum + point[axis], 0) / points.length;
  const [meanX, meanY] = [mean(0), mean(1)];
  const covariance = points.reduce((sum, [x, y]) => sum + (x - meanX) * (y - meanY), 0);
  const variance = points.reduce((sum, [x]) => sum + (x - meanX) ** 2, 0);
  return covariance / variance;
}

/** Milliseconds to fold so many readings of each of so many installations, each reading in turn. */
function foldMs(installations: number, readingsEach: number): number {
  let spentMs = 0;
  fold(installations, readingsEach, (receiveAll) => {
    const startedMs = performance.now();
    receiveAll();
    spentMs += performance.now() - startedMs;
  });
  return spentMs;
}

function measureHeldBytes(installations: number, readingsEach: number): number {
  collectGarbage();
  const before = process.memoryUsage().heapUsed;
  const actors = fold(installations, readingsEach, (receiveAll) => receiveAll());
  collectGarbage();
  const usedBytes = process.memoryUsage().heapUsed - before;
  if (actors.installationCount !== installations) throw new Error('some installations are missing');
  return usedBytes;
}

function fold(installations: number, readingsEach: number, run: (receiveAll: () => void) => void) {
  const actors = createCounterActors({ genesisMs, publicInstallationId: installationId });
  const total = installations * readingsEach;
  for (let from = 0; from < total; from += madeAtOnce) {
    const messages = Array.from({ length: Math.min(madeAtOnce, total - from) }, (_, offset) => {
      const number = from + offset;
      const id = `wheel-${number % installations}`;
      const index = Math.floor(number / installations);
      const data = Buffer.from(readingBody(id, index, genesisMs + index * intervalMs));
      return { seq: number + 1, subject: counterSubject(id), data, timestampNanos: 0n };
    });
    run(() => {
      for (const message of messages) actors.receive(message);
    });
  }
  return actors;
}

/** Twice, since finalizers of the first time free more. */
function collectGarbage() {
  setFlagsFromString('--expose-gc');
  const collect = runInNewContext('gc') as () => void;
  collect();
  collect();
}
