import { createHash } from 'node:crypto';
import { type JetStreamManager, jetstreamManager } from '@nats-io/jetstream';
import type { NatsConnection } from '@nats-io/transport-node';
import cliProgress from 'cli-progress';
import { counterSubject } from '../actors/messages/subjects.ts';
import { pollUntil } from '../storage/pollUntil.ts';

/** A multiple of 1800 seconds; what is published lies in the past, so it may be published at any speed. */
export const genesisMs = Date.UTC(2025, 0, 31, 12);

const flushedEvery = 5_000;
const storedPollMs = 50;

/** Reading number `index` of an installation, as it travels. */
export function readingBody(id: string, index: number, observedAtMs: number): string {
  return JSON.stringify({
    telemetryId: deriveUuid(`${id} ${index}`),
    installationId: id,
    bootId: deriveUuid(`${id} boot`),
    sequence: index,
    observedAt: new Date(observedAtMs).toISOString(),
    receivedAt: new Date(observedAtMs + 50).toISOString(),
    counterEpoch: deriveUuid(`${id} epoch`),
    cumulativeWorkUnits: String(index * 3),
    provenance: 'simulated',
    softwareVersion: 'benchmark',
    coreStatus: 'ACTIVE',
    rpmMilli: 30_000 + (index % 500),
    speedMmPerSecond: 500 + (index % 50),
    distanceMm: (Math.floor(observedAtMs / 1_000) % 86_400) * 500,
  });
}

interface ReadingsToPublish {
  readonly id: string;
  readonly count: number;
  readonly intervalMs: number;
  /** Of the first one (epoch milliseconds); the genesis when it is left out. */
  readonly startMs?: number;
}

/** Publishes readings of one installation `intervalMs` apart, as fast as the server stores them. */
export async function publishReadings(
  connection: NatsConnection,
  { id, count, intervalMs, startMs = genesisMs }: ReadingsToPublish,
): Promise<void> {
  const jsm = await jetstreamManager(connection);
  const bar = new cliProgress.SingleBar(
    {
      format: 'publishing {bar} {percentage}% | {value}/{total} readings | {eta} s left',
      noTTYOutput: true,
      notTTYSchedule: 20_000,
    },
    cliProgress.Presets.shades_classic,
  );
  const subject = counterSubject(id);
  const before = await countMessages(jsm);
  bar.start(count, 0);
  for (let index = 0; index < count; index++) {
    connection.publish(subject, readingBody(id, index, startMs + index * intervalMs));
    if (index % flushedEvery !== 0) continue;
    await connection.flush();
    // Without acknowledgements: what the server has not stored yet waits in its memory, so that is bounded here.
    await pollUntil(async () => index - (await countMessages(jsm)) + before <= flushedEvery * 20, {
      everyMs: storedPollMs,
    });
    bar.update(index);
  }
  await connection.flush();
  await pollUntil(async () => (await countMessages(jsm)) - before >= count, { everyMs: storedPollMs });
  bar.stop();
}

async function countMessages(jsm: JetStreamManager): Promise<number> {
  return (await jsm.streams.info('MINER_COUNTER')).state.messages;
}

function deriveUuid(text: string): string {
  const hex = createHash('md5').update(text).digest('hex');
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-4${hex.slice(13, 16)}-8${hex.slice(17, 20)}-${hex.slice(20, 32)}`;
}
