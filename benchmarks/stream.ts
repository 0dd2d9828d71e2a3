import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { Agent, get } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { DeliverPolicy, jetstream } from '@nats-io/jetstream';
import { connect, type NatsConnection } from '@nats-io/transport-node';
import { counterSubject } from '../actors/messages/subjects.ts';
import { createCounterActors } from '../actors/wheel/counterActors.ts';
import { closeNats } from '../streams/jetstream/connection.ts';
import { readNatsAccess } from '../streams/jetstream/natsAccess.ts';
import { type Measurement, measureInterleaved, type Series } from './measureInterleaved.ts';
import { genesisMs, readingBody } from './readingLoad.ts';
import { publishResults, type ResultTable } from './results.ts';
import { startServiceProcess } from './serviceProcess.ts';
import { withVersion } from './versions.ts';

const installationId = 'wheel-0';
const readingsOfRound = 200;
const betweenReadingsMs = 5;
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
  await service.readyAfterMs();
  const connection = await connect(readNatsAccess({ url: service.natsUrl }));
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  const url = `${service.publicUrl}/v1/public/telemetry`;
  const gateway = createGateway(connection);
  try {
    const series = await measureInterleaved(
      [
        {
          name: 'to `/v1/public/telemetry`, polled all the time',
          measure: () =>
            measureDelays(async () => {
              const [telemetryId, startedMs] = gateway.publish();
              while (!(await fetchBody(url, agent)).includes(telemetryId));
              return performance.now() - startedMs;
            }),
        },
        {
          name: `to a bare \`consume()\` of ${withVersion('@nats-io/jetstream')}`,
          measure: () => bareDelays(connection, gateway),
        },
      ],
      rounds,
    );
    return {
      title: 'A reading, from its publication',
      unit: 'µs, of half of them',
      isLessBetter: true,
      series,
    };
  } finally {
    agent.destroy();
    await closeNats(connection);
    await service.stop();
  }
}

function createGateway(connection: NatsConnection) {
  let index = 0;
  return {
    /** ID of the reading, and when it was published. */
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

async function bareDelays(
  connection: NatsConnection,
  gateway: ReturnType<typeof createGateway>,
): Promise<Measurement> {
  const consumer = await jetstream(connection).consumers.get('MINER_COUNTER', {
    deliver_policy: DeliverPolicy.New,
  });
  const delivered = await consumer.consume({ max_messages: 2_000 });
  const messages = delivered[Symbol.asyncIterator]();
  const measured = await measureDelays(async () => {
    const [, startedMs] = gateway.publish();
    await messages.next();
    return performance.now() - startedMs;
  });
  delivered.stop();
  return measured;
}

async function fetchBody(url: string, agent: Agent): Promise<string> {
  const request = get(url, { agent });
  const [response] = await once(request, 'response');
  let body = '';
  for await (const chunk of response.setEncoding('utf8')) body += chunk;
  return body;
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
