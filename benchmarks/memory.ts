import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { connect, type NatsConnection } from '@nats-io/transport-node';
import cliProgress from 'cli-progress';
import { counterSubject } from '../actors/messages/subjects.ts';
import { pollUntil } from '../storage/pollUntil.ts';
import { closeNats } from '../streams/jetstream/connection.ts';
import { readNatsAccess } from '../streams/jetstream/natsAccess.ts';
import { genesisMs, readingBody } from './readingLoad.ts';
import { publishResults } from './results.ts';
import { startServiceProcess } from './serviceProcess.ts';

const foldPollMs = 100;
const samplesAfter = 20;
/** Published readings that the service may be behind. */
const lagMax = 50_000;

export interface MemoryOptions {
  readonly installations: number;
  readonly seconds: number;
  /** Simulated seconds in a second, at most. */
  readonly speed: number;
}

/** Publishes `installations` readings for each simulated second, `speed` of them a second or as many as are folded. */
export async function measureMemory({ installations, seconds, speed }: MemoryOptions): Promise<void> {
  const total = installations * seconds;
  const ids = Array.from({ length: installations }, (_, index) => `wheel-${index}`);
  const dir = mkdtempSync(join(tmpdir(), 'miner-bench-'));
  const service = await startServiceProcess({ dir, installationId: ids[0] as string });
  const bar = new cliProgress.SingleBar(
    {
      format: 'readings {bar} {percentage}% | {value}/{total} | {eta} s left | {resident} MiB',
      noTTYOutput: true,
      notTTYSchedule: 10_000,
    },
    cliProgress.Presets.shades_classic,
  );
  const samples: number[] = [];
  const sample = () => {
    const { now } = service.residentBytes();
    samples.push(now);
    return { resident: mebibytes(now) };
  };
  try {
    const connection = await connect(readNatsAccess({ url: service.natsUrl }));
    const readFoldedCount = async () =>
      (await service.metric('miner_stream_position{stream="MINER_COUNTER"}')) ?? 0;
    const isFolding = async () =>
      (await service.metric('miner_stream_position{stream="MINER_COUNTER"}')) !== null;
    await pollUntil(isFolding, { everyMs: foldPollMs });
    const startedMs = performance.now();
    bar.start(total, 0, sample());
    let published = 0;
    for (let second = 0; second < seconds; second++) {
      publishSecond(connection, ids, second);
      published += installations;
      await connection.flush();
      const dueMs = startedMs + ((second + 1) * 1000) / speed;
      await wait(Math.max(0, dueMs - performance.now()));
      await pollUntil(async () => published - (await readFoldedCount()) <= lagMax, { everyMs: foldPollMs });
      bar.update(published, sample());
    }
    const isFolded = async () => {
      sample();
      return (await readFoldedCount()) >= total;
    };
    await pollUntil(isFolded, { everyMs: foldPollMs });
    const elapsedSeconds = (performance.now() - startedMs) / 1000;
    for (let index = 0; index < samplesAfter; index++) {
      await wait(foldPollMs);
      sample();
    }
    bar.stop();
    await closeNats(connection);
    const accepted = await service.metric('miner_messages_total{stream="MINER_COUNTER",outcome="accepted"}');
    const { peak } = service.residentBytes();
    const rate = Math.round(total / elapsedSeconds).toLocaleString('en-US');
    publishResults({
      command: 'memory',
      about: `${accepted?.toLocaleString('en-US')} of ${total.toLocaleString('en-US')} readings accepted, ${rate} a second; nats-server apart.`,
      tables: [
        {
          title: `Resident, ${installations.toLocaleString('en-US')} installations, ${seconds} seconds`,
          unit: 'MiB',
          isComparison: false,
          series: [
            { name: 'while readings come', values: samples.map(mebibytes) },
            { name: 'peak', values: [mebibytes(peak)] },
          ],
        },
      ],
    });
  } finally {
    bar.stop();
    await service.stop();
    rmSync(dir, { recursive: true, force: true });
  }
}

function publishSecond(connection: NatsConnection, ids: readonly string[], second: number) {
  for (const id of ids)
    connection.publish(counterSubject(id), readingBody(id, second, genesisMs + second * 1_000));
}

function mebibytes(bytes: number): number {
  return Math.round(bytes / 2 ** 20);
}
