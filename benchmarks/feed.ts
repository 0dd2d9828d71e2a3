import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { connect as connectSocket, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { connect } from '@nats-io/transport-node';
import { counterSubject } from '../actors/messages/subjects.ts';
import { closeNats } from '../streams/jetstream/connection.ts';
import { readNatsAccess } from '../streams/jetstream/natsAccess.ts';
import { fillData } from './filledData.ts';
import { type Measurement, measureInterleaved } from './measureInterleaved.ts';
import { publishResults } from './results.ts';
import { startServiceProcess } from './serviceProcess.ts';
import { measureLoad, readWrkVersion, serverCore } from './wrk.ts';

const path = '/v4/public/process';
const secondsOfLoad = 3;
const eventMs = 1_000;
/** Above the last speed record. */
const recordStep = 56;

export interface FeedOptions {
  /** Clients of the event stream. */
  readonly listeners: number;
  readonly rounds: number;
}

/** Polling while many clients listen to the event stream, and one event per second is delivered to all of them. */
export async function measureFeed({ listeners, rounds }: FeedOptions): Promise<void> {
  const dir = mkdtempSync(join(tmpdir(), 'miner-bench-'));
  try {
    const environment = await fillData(dir);
    const service = await startServiceProcess({ dir, installationId: '', environment, core: serverCore });
    try {
      await service.readyAfterMs();
      const gateway = await startRecords(service.natsUrl, environment.MINER_DEPLOYMENT as string);
      const url = `${service.publicUrl}${path}`;
      const poll = () => measureLoad({ url, headers: {}, seconds: secondsOfLoad });
      const series = await measureInterleaved(
        [
          {
            name: `with ${listeners} listeners`,
            measure: () => whileListening(service.publicUrl, listeners, poll),
          },
          { name: 'without', measure: poll },
        ],
        rounds,
      );
      await gateway.stop();
      publishResults({
        command: 'feed',
        about: `One event a second. Load by ${await readWrkVersion()}, on another core.`,
        tables: [{ title: `Polling \`${path}\``, unit: 'requests/s', series }],
      });
    } finally {
      await service.stop();
    }
  } finally {
    rmSync(dir, { recursive: true, force: true });
  }
}

/** @throws Error when a listener received no event meanwhile. */
async function whileListening(
  base: string,
  listeners: number,
  measure: () => Promise<Measurement>,
): Promise<Measurement> {
  const { hostname, port } = new URL(base);
  const delivered = new Map<Socket, number>();
  const sockets = await Promise.all(
    Array.from({ length: listeners }, async () => {
      const socket = connectSocket(Number(port), hostname);
      await once(socket, 'connect');
      socket.on('error', () => undefined);
      socket.on('data', (chunk) => {
        if (chunk.includes('event: ')) delivered.set(socket, (delivered.get(socket) ?? 0) + 1);
      });
      socket.write('GET /v1/events/stream HTTP/1.1\r\nHost: bench\r\n\r\n');
      return socket;
    }),
  );
  await wait(eventMs);
  const measured = await measure();
  for (const socket of sockets) socket.destroy();
  if (delivered.size !== listeners)
    throw new Error(`${delivered.size} of ${listeners} listeners received an event`);
  return measured;
}

/** The wheel's gateway, with a reading a second that is a speed record, so that each of them is an event. */
async function startRecords(natsUrl: string, deploymentFile: string): Promise<{ stop(): Promise<void> }> {
  const { installationId } = JSON.parse(readFileSync(deploymentFile, 'utf8')) as { installationId: string };
  const connection = await connect(readNatsAccess({ url: natsUrl }));
  const [bootId, counterEpoch] = [randomUUID(), randomUUID()];
  let sequence = 0;
  const timer = setInterval(() => {
    sequence++;
    const at = new Date().toISOString();
    const reading = {
      telemetryId: randomUUID(),
      installationId,
      bootId,
      sequence,
      observedAt: at,
      receivedAt: at,
      counterEpoch,
      cumulativeWorkUnits: String(sequence),
      provenance: 'simulated',
      softwareVersion: 'benchmark',
      coreStatus: 'ACTIVE',
      rpmMilli: 30_000,
      speedMmPerSecond: 100_000 + sequence * recordStep,
      distanceMm: 0,
    };
    connection.publish(counterSubject(installationId), JSON.stringify(reading));
  }, eventMs);
  return {
    stop: async () => {
      clearInterval(timer);
      await closeNats(connection);
    },
  };
}
