import { spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { DeliverPolicy, jetstream } from '@nats-io/jetstream';
import { connect, type NatsConnection } from '@nats-io/transport-node';
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
import { inWorkspace } from './workspace.ts';

interface ReplayOptions extends Pick<PartialRun, 'profile'> {
  readonly readings: number;
  readonly rounds: number;
}

/** Measures the replay of a stream, all rows written, against a bare consumer of the same messages. */
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
        measure: () => withCpu(readings, () => replayRate(replay)),
      },
      {
        name: 'bare `consume()` of @nats-io/jetstream and `JSON.parse`',
        measure: () => withCpu(readings, () => bareRate(connection, readings)),
      },
    ];
    return measureInterleaved(contenders, rounds);
  });
  const title = `${readings.toLocaleString('en-US')} readings`;
  publishResults({ command: 'replay', tables: [{ title, unit: 'messages/s', series }] }, partial);
}

/** Adds the CPU time of all processes, including nats-server, from a program's start to its end. */
async function withCpu(readings: number, measure: () => Promise<number>): Promise<Measurement> {
  const beforeMs = readFamilyCpuMs();
  const value = await measure();
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

/** Messages per second that were folded and stored, from the replay's own output. */
async function replayRate({ dir, filledDir, natsUrl, profile }: Replay): Promise<number> {
  const dataDir = mkdtempSync(join(dir, 'replay-'));
  cpSync(filledDir, dataDir, { recursive: true });
  const { stdout, stderr, status } = spawnSync(
    process.execPath,
    [...profilerArguments(profile), minerProgram, 'replay', '--from-sequence', '1'],
    {
      encoding: 'utf8',
      env: {
        PATH: process.env.PATH,
        NODE_ENV: 'production',
        MINER_NATS_URL: natsUrl,
        MINER_DATA_DIR: dataDir,
        MINER_DEPLOYMENT: join(dataDir, 'deployment.json'),
      },
    },
  );
  rmSync(dataDir, { recursive: true, force: true });
  const [, rate] = /\((\d+) per second\)/.exec(stdout) ?? [];
  if (status !== 0 || rate === undefined) throw new Error(`the replay failed:\n${stdout}${stderr}`);
  return Number(rate);
}

async function bareRate(connection: NatsConnection, readings: number): Promise<number> {
  const consumer = await jetstream(connection).consumers.get('MINER_COUNTER', {
    deliver_policy: DeliverPolicy.StartSequence,
    opt_start_seq: 1,
  });
  const delivered = await consumer.consume({ max_messages: 2_000 });
  const startedMs = performance.now();
  let parsed = 0;
  for await (const message of delivered) {
    if (typeof JSON.parse(message.string()) === 'object') parsed++;
    if (parsed === readings) break;
  }
  const rate = parsed / ((performance.now() - startedMs) / 1_000);
  delivered.stop();
  return rate;
}
