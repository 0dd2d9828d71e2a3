import { type JetStreamManager, jetstreamManager } from '@nats-io/jetstream';
import type { NatsConnection } from '@nats-io/transport-node';
import { counterSubject } from '../actors/messages/subjects.ts';
import { listKeys } from '../actors/schemas/listKeys.ts';
import { measurements } from '../actors/wheel/counterReading.ts';
import { createSeededUuid } from '../deploy/local/seeded.ts';
import { createProgress } from '../deploy/process/progress.ts';
import { pollUntil } from '../storage/reading/awaitRows.ts';

/** A multiple of 1800 seconds. It lies in the past, so readings may be published at any speed. */
export const genesisMs = Date.UTC(2025, 0, 31, 12);

export const installationId = 'wheel-0';

const flushedEvery = 5_000;
const storedPollMs = 50;

/** JSON of reading number `index` of an installation. */
export function readingBody(id: string, index: number, observedAtMs: number): string {
  return JSON.stringify({
    telemetryId: createSeededUuid(`${id} ${index}`),
    installationId: id,
    bootId: createSeededUuid(`${id} boot`),
    sequence: index,
    observedAt: new Date(observedAtMs).toISOString(),
    receivedAt: new Date(observedAtMs + 50).toISOString(),
    counterEpoch: createSeededUuid(`${id} epoch`),
    cumulativeWorkUnits: String(index * 3),
    provenance: 'simulated',
    softwareVersion: 'benchmark',
    coreStatus: 'ACTIVE',
    ...Object.fromEntries(listKeys(measurements).map((name) => [name, 500 + (index % 50)])),
    distanceMm: (Math.floor(observedAtMs / 1_000) % 86_400) * 500,
  });
}

interface ReadingsToPublish {
  readonly count: number;
  readonly intervalMs: number;
}

/** Publishes readings of the installation from the genesis on, `intervalMs` apart, as fast as NATS stores them. */
export async function publishReadings(
  connection: NatsConnection,
  { count, intervalMs }: ReadingsToPublish,
): Promise<void> {
  const jsm = await jetstreamManager(connection);
  const progress = createProgress({ label: 'publishing', unit: 'readings', total: count });
  const subject = counterSubject(installationId);
  const before = await countMessages(jsm);
  for (let index = 0; index < count; index++) {
    connection.publish(subject, readingBody(installationId, index, genesisMs + index * intervalMs));
    if (index % flushedEvery !== 0) continue;
    await connection.flush();
    // Without acknowledgements, unstored messages wait in the server's memory, so their number is bounded here.
    await pollUntil(async () => index - (await countMessages(jsm)) + before <= flushedEvery * 20, {
      everyMs: storedPollMs,
    });
    progress.update(index);
  }
  await connection.flush();
  await pollUntil(async () => (await countMessages(jsm)) - before >= count, { everyMs: storedPollMs });
  progress.stop();
}

async function countMessages(jsm: JetStreamManager): Promise<number> {
  return (await jsm.streams.info('MINER_COUNTER')).state.messages;
}
