import { Registry } from 'prom-client';
import { expect } from 'vitest';
import { type InputStreamName, inputStreamNames } from '../../../actors/messages/subjects.ts';
import type { Deployment } from '../../../deploy/configuration/deploymentFile.ts';
import { createServiceViews } from '../../../deploy/service/serviceViews.ts';
import { createPublicServer } from '../../../http/server/publicServer.ts';
import { createObservationReader } from '../../../storage/reading/observations.ts';
import { createRecentReadings } from '../../../storage/reading/recentReadings.ts';
import { createStreamActors, createStreamFold } from '../../../streams/definitions/streamDefinitions.ts';
import { createMessageCounts } from '../../../streams/pipeline/messageCounts.ts';
import type { StreamWork } from '../../../streams/work/streamWork.ts';
import { createReference } from '../../reference/index.ts';
import type { StoredMessage } from '../../reference/messages.ts';
import { followPages, type Page } from '../http/followPages.ts';
import { plainServerSettings } from '../http/publicServer.ts';
import { manualClock } from '../manualClock.ts';
import { whenFinished } from '../processes/lifetime.ts';
import { buildBatch } from '../readings/buildBatch.ts';
import { silentLogger } from '../silentLogger.ts';
import { noOlderActivity, noOlderEvents } from '../storage/noOlderRows.ts';
import { listDifferences } from './listDifferences.ts';
import { noteMembers } from './seenQuantities.ts';

export type ComparedProgram = Awaited<ReturnType<typeof startComparedProgram>>;

/**
 * The program of one deployment, from streams to bytes, and the reference over the same streams. Each message is folded at once.
 * Only NATS and ClickHouse are missing: memory holds everything.
 */
export async function startComparedProgram(deployment: Deployment, startMs: number) {
  const clock = manualClock(startMs);
  const actors = createStreamActors(deployment);
  const registry = new Registry();
  const counts = createMessageCounts(registry);
  const recent = createRecentReadings({ storedThrough: () => 0 });
  const dependencies = { recent, counts, logger: silentLogger, registry };
  const folds = new Map(
    inputStreamNames.map((stream) => [stream, createStreamFold(stream, actors, dependencies)]),
  );
  for (const fold of folds.values()) fold?.caughtUp?.();
  const observations = createObservationReader({
    recent,
    database: { select: () => Promise.reject(new Error('memory holds every reading')) } as never,
    awaitRows: async () => [],
  });
  // The part of the work that views read. The rest needs NATS and ClickHouse.
  const work = {
    // Readings are shown by a current fold, the chain by one that has once caught up.
    followers: new Map<string, object>([
      ['MINER_COUNTER', { isCurrent: true }],
      ['MINER_CHAIN', { wasCurrent: true }],
    ]),
    observations,
    olderEvents: noOlderEvents,
    olderActivity: noOlderActivity,
  } as unknown as StreamWork;
  const { views } = createServiceViews(
    { deployment, chainStaleAfterMs: 120_000, chainBehindAfterMs: 900_000 },
    { actors, work: () => work, clock },
  );
  const server = createPublicServer({
    sources: { views, observations },
    hasViews: () => true,
    readiness: () => ({ isReady: true, detail: {} }),
    clock,
    logger: silentLogger,
    registry,
    settings: plainServerSettings,
  });
  const port = await server.listen('127.0.0.1', 0);
  whenFinished(() => server.close());

  const stored: Record<InputStreamName, StoredMessage[]> = {
    MINER_COUNTER: [],
    MINER_PIPELINE: [],
    MINER_CHAIN: [],
  };
  const store = (stream: InputStreamName, subject: string, body: object | string | Uint8Array) => {
    const text = typeof body === 'string' ? body : JSON.stringify(body);
    const data = body instanceof Uint8Array ? body : Buffer.from(text);
    const storedAtMs = clock.nowMs();
    latest = null;
    const seq = stored[stream].length + 1;
    stored[stream].push({ seq, subject, data, storedAtMs });
    const message = { seq, subject, data, timestampNanos: BigInt(storedAtMs) * 1_000_000n };
    folds.get(stream)?.receive(buildBatch([message]));
  };

  let latest: ReturnType<typeof createReference> | null = null;
  const reference = () => {
    latest ??= createReference({
      deployment,
      counter: stored.MINER_COUNTER,
      pipeline: stored.MINER_PIPELINE,
      chain: stored.MINER_CHAIN,
    });
    return latest;
  };

  /** The program's body for a client. */
  const fetchBody = async (path: string) => {
    const response = await fetch(`http://127.0.0.1:${port}${path}`, {
      headers: { 'accept-encoding': 'identity' },
    });
    const body = (await response.json()) as Page;
    if (response.status !== 200) throw new Error(`${path}: ${response.status} ${JSON.stringify(body)}`);
    return { body, headers: response.headers };
  };

  /** Compares the quantities of a request's answer, which may be a list of several pages. Returns the answer. */
  const compare = async (path: string): Promise<Page> => {
    const body = await followPages(path, async (page) => (await fetchBody(page)).body);
    if (typeof body === 'string') throw new Error(`${path}: ${body}`);
    const answer = reference().measure(path, clock.nowMs());
    const differences = listDifferences(body, answer);
    if (differences.length > 0)
      expect({ path, differences: differences.slice(0, 12) }).toEqual({ path, differences: [] });
    noteMembers(path, body, answer);
    return body;
  };

  return { clock, store, stored, reference, fetchBody, compare, close: () => server.close() };
}

/** A program for one example of a property; it ends with the example. */
export async function withComparedProgram(
  deployment: Deployment,
  startMs: number,
  act: (program: ComparedProgram) => Promise<void>,
): Promise<void> {
  const program = await startComparedProgram(deployment, startMs);
  try {
    await act(program);
  } finally {
    program.close();
  }
}
