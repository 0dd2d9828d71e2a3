import { spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { connect } from '@nats-io/transport-node';
import { pino } from 'pino';
import { streamNames } from '../actors/messages/subjects.ts';
import { startLocalNats } from '../deploy/local/localNats.ts';
import { ensureStreams } from '../streams/jetstream/settings/ensureStreams.ts';
import { closeNats, createJetStreamPort } from '../streams/nats/jetStreamPort.ts';
import { readNatsAccess } from '../streams/nats/natsAccess.ts';
import { type Measurement, measureInterleaved } from './measureInterleaved.ts';
import { readFamilyCpuMs } from './processCpu.ts';
import { publishReadings } from './readingLoad.ts';
import { type PartialRun, publishResults } from './results.ts';
import { minerProgram, profilerArguments, startServiceProcess } from './serviceProcess.ts';
import type { StoringTask } from './storingLoop.ts';
import { inWorkspace } from './workspace.ts';

interface ReplayOptions extends Pick<PartialRun, 'profile'> {
  readonly readings: number;
  readonly rounds: number;
}

const storingLoop = fileURLToPath(new URL('./storingLoop.js', import.meta.url));

/** Measures the replay of a stream against a loop written by hand that only decodes and inserts the same messages. */
export async function measureReplay({ readings, rounds, ...partial }: ReplayOptions): Promise<void> {
  const logger = pino({ level: 'error' });
  const series = await inWorkspace(async ({ dir, onEnd }) => {
    const nats = await startLocalNats({ dir: join(dir, 'nats'), logger });
    onEnd(nats.stop);
    const connection = await connect(readNatsAccess(nats));
    onEnd(() => closeNats(connection));
    await ensureStreams(await createJetStreamPort(connection), {
      streams: streamNames,
      retentionDays: 0,
      logger,
    });
    await publishReadings(connection, { count: readings, intervalMs: 1_000 });
    const filledDir = join(dir, 'filled');
    await fold(filledDir, nats.url, readings);
    const replay = { dir, filledDir, natsUrl: nats.url, ...partial };
    const contenders = [
      {
        name: '`miner replay`, all rows written',
        measure: async () => withCpu(readings, () => replayRate(replay)),
      },
      {
        name: 'a loop of `consume()`, `JSON.parse` and inserts of 20,000 rows',
        measure: async () => withCpu(readings, () => storingRate({ ...replay, readings })),
      },
    ];
    return measureInterleaved(contenders, rounds);
  });
  const title = `${readings.toLocaleString('en-US')} readings`;
  publishResults({ command: 'replay', tables: [{ title, unit: 'messages/s', series }] }, partial);
}

/** Adds the CPU time of all processes, including nats-server, from a program's start to its end. */
function withCpu(readings: number, measure: () => number): Measurement {
  const beforeMs = readFamilyCpuMs();
  const value = measure();
  const cpuMs = readFamilyCpuMs() - beforeMs;
  return { value, others: { 'CPU µs of all processes per message': (cpuMs * 1_000) / readings } };
}

/** Lets a service fold and store the stream, since a replay rebuilds stored rows. */
async function fold(dir: string, natsUrl: string, readings: number): Promise<void> {
  mkdirSync(dir);
  const service = await startServiceProcess({ dir, environment: { MINER_NATS_URL: natsUrl } });
  await service.foldedThrough(readings);
  await service.stop();
}

interface Replay extends Pick<PartialRun, 'profile'> {
  readonly dir: string;
  readonly filledDir: string;
  readonly natsUrl: string;
}

/** Messages per second that were folded and stored. */
function replayRate({ dir, filledDir, natsUrl, profile }: Replay): number {
  return inOwnFolder(dir, (dataDir) => {
    cpSync(filledDir, dataDir, { recursive: true });
    return runForRate([...profilerArguments(profile), minerProgram, 'replay', '--from-sequence', '1'], {
      MINER_NATS_URL: natsUrl,
      MINER_DATA_DIR: dataDir,
      MINER_DEPLOYMENT: join(dataDir, 'deployment.json'),
    });
  });
}

/** Messages per second that were decoded and stored. */
function storingRate({ dir, natsUrl, readings }: Replay & Pick<StoringTask, 'readings'>): number {
  return inOwnFolder(dir, (path) =>
    runForRate([storingLoop, JSON.stringify({ natsUrl, path, readings } satisfies StoringTask)]),
  );
}

/** Lets a program work in a folder of its own, which is removed afterwards. */
function inOwnFolder(dir: string, work: (own: string) => number): number {
  const own = mkdtempSync(join(dir, 'run-'));
  try {
    return work(own);
  } finally {
    rmSync(own, { recursive: true, force: true });
  }
}

/** Runs a program to its end, and returns the rate that it prints. */
function runForRate(command: readonly string[], environment: Readonly<Record<string, string>> = {}): number {
  const { stdout, stderr, status } = spawnSync(process.execPath, command, {
    encoding: 'utf8',
    env: { PATH: process.env.PATH, NODE_ENV: 'production', ...environment },
  });
  const [, rate] = /\((\d+) per second\)/.exec(stdout) ?? [];
  if (status !== 0 || rate === undefined) throw new Error(`${command.join(' ')} failed:\n${stdout}${stderr}`);
  return Number(rate);
}
