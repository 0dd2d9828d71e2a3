import { defer, firstValueFrom, retry } from 'rxjs';
import { plainCounter } from '../simulation/checks/plainCounter.ts';
import { ask, type MinerProcess } from '../support/processes/minerProcess.ts';
import { fetchMessages, type TestConnection } from '../support/processes/natsServer.ts';
import { allObservations, readRejections } from '../support/storage/storedState.ts';

const paths = [
  '/v1/public/telemetry',
  '/v1/public/modules',
  '/v1/core',
  '/v1/mining/state',
  '/v2/public/miners/state',
  '/v1/settlements',
  '/v1/events',
];

/** What differs after a campaign; nothing should. */
interface OutsideFindings {
  readonly accepted: number;
  readonly missingReadings: number;
  readonly doubledReadings: number;
  readonly missingRejections: number;
  readonly doubledRejections: number;
  readonly differingAnswers: readonly string[];
}

/** Compares what a service shows with a plain fold of the stream, and with a service that has folded everything into an empty database. */
export async function checkFromOutside(
  miner: MinerProcess,
  fresh: MinerProcess,
  nats: TestConnection,
  startMs: number,
): Promise<OutsideFindings> {
  const messages = (await fetchMessages(nats, 'MINER_COUNTER')).map((message) => ({
    sequence: message.seq,
    subject: message.subject,
    headers: null,
    data: Buffer.from(message.data),
    atNanos: message.timestampNanos,
  }));
  const plain = plainCounter(messages, startMs);
  const found: string[] = [];
  for (const installation of ['wheel.one', 'wheel:two', 'wheel-three'])
    found.push(...(await readAll(miner, installation)).map(({ telemetryId }) => telemetryId));
  const rejected = (await readRejections(nats, 'MINER_COUNTER')).map(({ sequence }) => sequence);
  const differingAnswers: string[] = [];
  for (const path of paths) {
    const [one, other] = [await readBody(miner, path), await readBody(fresh, path)];
    if (one !== other) differingAnswers.push(`${path}: ${one.slice(0, 300)} and ${other.slice(0, 300)}`);
  }
  const shown = new Set(found);
  const published = new Set(rejected);
  return {
    accepted: plain.accepted.length,
    missingReadings: plain.accepted.filter(({ telemetryId }) => !shown.has(telemetryId)).length,
    doubledReadings: found.length - shown.size,
    missingRejections: plain.rejected.filter(({ position }) => !published.has(position)).length,
    doubledRejections: rejected.length - published.size,
    differingAnswers,
  };
}

/** From the first page on again where a busy database was not read in time. */
function readAll(miner: MinerProcess, installationId: string) {
  const reading = defer(() => allObservations(miner, installationId));
  return firstValueFrom(reading.pipe(retry({ count: 20, delay: 2_000 })));
}

async function readBody({ publicUrl }: MinerProcess, path: string): Promise<string> {
  const response = await ask(`${publicUrl}${path}`);
  return `${response.status} ${(await response.text()).replace(/"generatedAt":"[^"]*"/, '')}`;
}
