import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { Agent, get } from 'node:http';
import { text } from 'node:stream/consumers';
import { setTimeout as wait } from 'node:timers/promises';
import { connect, type NatsConnection } from '@nats-io/transport-node';
import { counterSubject } from '../actors/messages/subjects.ts';
import { closeNats } from '../streams/nats/jetStreamPort.ts';
import { readNatsAccess } from '../streams/nats/natsAccess.ts';
import { type Measurement, measureInterleaved, type Series } from './measureInterleaved.ts';
import { genesisMs, installationId, readingBody } from './readingLoad.ts';
import type { ServiceProcess } from './serviceProcess.ts';

const readingsOfRound = 200;
const betweenReadingsMs = 5;
const intervalMs = 10_000;

interface DelayTarget extends Pick<ServiceProcess, 'natsUrl' | 'publicUrl' | 'cpuMs'> {
  /** Address of `bareConsumer.ts`. */
  readonly bareUrl: string;
}

export const delaysTable = {
  title: 'A reading, from its publication to an answer that is polled all the time',
  unit: 'µs, of half of them',
  isLessBetter: true,
} as const;

/** Measures the delay from the publication of a reading to its route, and to the answer of a bare consumer. */
export async function measureReadingDelays(target: DelayTarget, rounds: number): Promise<Series[]> {
  const connection = await connect(readNatsAccess({ url: target.natsUrl }));
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  const gateway = createGateway(connection);
  const contenders = [
    { name: 'to `/v1/public/telemetry`', url: `${target.publicUrl}/v1/public/telemetry` },
    { name: 'to an answer of bare uWebSockets.js behind a bare `consume()`', url: target.bareUrl },
  ].map(({ name, url }) => ({
    name,
    measure: () =>
      withCores(target, () =>
        measureDelays(async () => {
          const [telemetryId, startedMs] = gateway.publish();
          while (!(await fetchBody(url, agent)).includes(telemetryId));
          return performance.now() - startedMs;
        }),
      ),
  }));
  try {
    return await measureInterleaved(contenders, rounds);
  } finally {
    agent.destroy();
    await closeNats(connection);
  }
}

/** Adds the share of a core that the service takes meanwhile. */
async function withCores({ cpuMs }: DelayTarget, measure: () => Promise<Measurement>): Promise<Measurement> {
  const [beforeMs, startedMs] = [cpuMs(), performance.now()];
  const { value, others } = await measure();
  const cores = (cpuMs() - beforeMs) / (performance.now() - startedMs);
  return { value, others: { ...others, 'cores of the service': cores } };
}

function createGateway(connection: NatsConnection) {
  let index = 0;
  return {
    /** Publishes a reading. Returns its ID and the time. */
    publish: (): [telemetryId: string, atMs: number] => {
      const telemetryId = randomUUID();
      const reading = JSON.parse(readingBody(installationId, index, genesisMs + index * intervalMs));
      index++;
      const body = JSON.stringify({ ...reading, telemetryId });
      connection.publish(counterSubject(installationId), body);
      return [telemetryId, performance.now()];
    },
  };
}

async function measureDelays(measureOne: () => Promise<number>): Promise<Measurement> {
  const delays: number[] = [];
  for (let reading = 0; reading < readingsOfRound; reading++) {
    delays.push((await measureOne()) * 1_000);
    await wait(betweenReadingsMs);
  }
  const sorted = delays.toSorted((a, b) => a - b);
  const at = (share: number) => sorted[Math.ceil(sorted.length * share) - 1] as number;
  return { value: at(0.5), others: { 'p99 µs': at(0.99) } };
}

async function fetchBody(url: string, agent: Agent): Promise<string> {
  const request = get(url, { agent });
  const [response] = await once(request, 'response');
  return text(response);
}
