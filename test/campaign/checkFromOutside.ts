import { defer, firstValueFrom, retry } from 'rxjs';
import { acceptReadings } from '../reference/readings.ts';
import { listPlainPaths } from '../support/http/plainPaths.ts';
import { ask, type MinerProcess } from '../support/processes/minerProcess.ts';
import { fetchMessages, type TestConnection } from '../support/processes/natsServer.ts';
import { allObservations, readRejections } from '../support/storage/storedState.ts';

/** Without process and status: their revision follows freshness, which may change between two requests. */
const paths = listPlainPaths().filter((path) => !['/v4/public/process', '/v1/status'].includes(path));

/** Differences after a campaign; should be empty. */
interface OutsideFindings {
  readonly accepted: number;
  readonly missingReadings: number;
  readonly doubledReadings: number;
  readonly missingRejections: number;
  readonly doubledRejections: number;
  readonly differingAnswers: readonly string[];
}

/** Compares a service's answers with the reference's view of the stream, and with a service that folded everything into an empty database. */
export async function checkFromOutside(
  miner: MinerProcess,
  fresh: MinerProcess,
  nats: TestConnection,
): Promise<OutsideFindings> {
  const messages = (await fetchMessages(nats, 'MINER_COUNTER')).map((message) => ({
    ...message,
    storedAtMs: Number(message.timestampNanos / 1_000_000n),
  }));
  const refused: number[] = [];
  const accepted = acceptReadings(messages, ({ seq }) => refused.push(seq));
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
    accepted: accepted.length,
    missingReadings: accepted.filter(({ telemetryId }) => !shown.has(telemetryId)).length,
    doubledReadings: found.length - shown.size,
    missingRejections: refused.filter((sequence) => !published.has(sequence)).length,
    doubledRejections: rejected.length - published.size,
    differingAnswers,
  };
}

/** Reads all pages, from the first one again if a busy database was too slow. */
function readAll(miner: MinerProcess, installationId: string) {
  const reading = defer(() => allObservations(miner, installationId));
  return firstValueFrom(reading.pipe(retry({ count: 20, delay: 2_000 })));
}

async function readBody({ publicUrl }: MinerProcess, path: string): Promise<string> {
  const response = await ask(`${publicUrl}${path}`);
  return `${response.status} ${(await response.text()).replace(/"generatedAt":"[^"]*"/, '')}`;
}
