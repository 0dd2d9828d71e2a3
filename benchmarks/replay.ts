import { spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DeliverPolicy, jetstream, jetstreamManager } from '@nats-io/jetstream';
import { connect, type NatsConnection } from '@nats-io/transport-node';
import { pino } from 'pino';
import { streamNames } from '../actors/messages/subjects.ts';
import { closeNats } from '../streams/jetstream/connection.ts';
import { ensureStreams } from '../streams/jetstream/ensureStreams.ts';
import { measureInterleaved } from './measureInterleaved.ts';
import { startNatsProcess } from './natsProcess.ts';
import { type ProfileOptions, profilerArguments, publishUnlessProfiled } from './profiles.ts';
import { publishReadings } from './readingLoad.ts';
import { minerProgram, startServiceProcess } from './serviceProcess.ts';
import { withVersion } from './versions.ts';
import { waitUntilFolded } from './waitUntilFolded.ts';

const installationId = 'wheel-0';

interface ReplayOptions extends ProfileOptions {
  readonly readings: number;
  readonly rounds: number;
}

/** The replay of a stream, all rows written, against a bare consumption of the same messages. */
export async function measureReplay({ readings, rounds, profile = null }: ReplayOptions): Promise<void> {
  const dir = mkdtempSync(join(tmpdir(), 'miner-bench-'));
  const logger = pino({ level: 'error' });
  const nats = await startNatsProcess(join(dir, 'nats'));
  try {
    const connection = await connect({ servers: nats.url });
    await ensureStreams(await jetstreamManager(connection), streamNames, { retentionDays: 0 }, logger);
    await publishReadings(connection, { id: installationId, count: readings, intervalMs: 1_000 });
    const filledDir = join(dir, 'filled');
    await fold(filledDir, nats.url, readings);
    const replay = { dir, filledDir, natsUrl: nats.url, profile };
    const series = await measureInterleaved(
      [
        { name: '`miner replay`, all rows written', measure: () => replayRate(replay) },
        {
          name: `bare \`consume()\` of ${withVersion('@nats-io/jetstream')} and \`JSON.parse\``,
          measure: () => bareRate(connection, readings),
        },
      ],
      rounds,
    );
    publishUnlessProfiled(profile, {
      command: 'replay',
      tables: [{ title: `${readings.toLocaleString('en-US')} readings`, unit: 'messages/s', series }],
    });
    await closeNats(connection);
  } finally {
    await nats.stop();
    rmSync(dir, { recursive: true, force: true });
  }
}

/** A replay rebuilds what a service has stored. */
async function fold(dir: string, natsUrl: string, readings: number): Promise<void> {
  mkdirSync(dir);
  const environment = { MINER_NATS_URL: natsUrl };
  const service = await startServiceProcess({ dir, installationId, environment });
  await waitUntilFolded(service, readings);
  await service.stop();
}

interface Replay {
  readonly dir: string;
  /** Data of the service that has folded the stream. */
  readonly filledDir: string;
  readonly natsUrl: string;
  readonly profile: string | null;
}

/** Messages a second, from the replay's own line: folded, and stored in ClickHouse. */
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
