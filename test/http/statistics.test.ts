import { describe, expect, it } from 'vitest';
import { counterSubject } from '../../actors/messages/subjects.ts';
import { createCounterActors } from '../../actors/wheel/counterActors.ts';
import { expectError } from '../support/http/expectError.ts';
import { startPublicServer } from '../support/http/publicServer.ts';
import { jsonMessage } from '../support/jsonMessage.ts';
import { deriveUuid, readingMessage } from '../support/readings/readingMessages.ts';

const paths = ['/v2/public/stats', '/v1/measurement/stats'];

/** Readings through two hours, each round with as much work as a counter can hold, in an epoch of its own. */
function fullCounters() {
  const genesisMs = Date.UTC(2026, 0, 31, 12);
  const counters = createCounterActors({ genesisMs, publicInstallationId: 'wheel-1' });
  let seq = 0;
  const read = (atMs: number, epoch: number, cumulativeWorkUnits: bigint) => {
    const at = new Date(atMs).toISOString();
    const body = readingMessage('wheel-1', seq++, {
      ...{ observedAt: at, receivedAt: at, counterEpoch: deriveUuid(`epoch ${epoch}`) },
      cumulativeWorkUnits: cumulativeWorkUnits.toString(),
    });
    const outcome = counters.receive(jsonMessage(counterSubject('wheel-1'), body, { seq }));
    expect(outcome).toHaveProperty('output');
  };
  for (let round = 0; round < 13; round++) {
    const startMs = genesisMs + round * 600_000;
    read(startMs, round, 0n);
    for (let minute = 1; minute <= 10; minute++) read(startMs + minute * 60_000 - 1, round, largestCounter);
    // Two readings of one instant leave nothing uncovered, in any epochs.
    read(startMs + 600_000, round, largestCounter);
  }
  return { counters, nowMs: genesisMs + 12 * 600_000 };
}

const largestCounter = 2n ** 256n - 1n;

describe('statistics routes', () => {
  it.each(paths)('%s show sums of readings that no 256 bits hold, to the unit', async (path) => {
    const { counters, nowMs } = fullCounters();
    const server = await startPublicServer({ history: () => counters.history() });
    server.clock.advance(nowMs - server.clock.nowMs());
    const total = (largestCounter * 12n).toString();
    const response = await server.get(`${path}?range=7d`);
    expect([response.status, await response.json()]).toMatchObject([
      200,
      {
        lifetime: { acceptedWorkUnits: total },
        activity: {
          summary: {
            observedWorkUnits: total,
            averageWorkPerActiveDayMilli: `${total}000`,
            medianWorkPerActiveDay: total,
            mostActiveDateWorkUnits: total,
          },
        },
        records: {
          mostWorkHalfHour: { value: (largestCounter * 3n).toString() },
          mostWorkUtcDay: { value: total },
        },
        rounds: {
          observedCount: 12,
          averageActiveWorkMilli: `${largestCounter}000`,
          mostActiveWork: largestCounter.toString(),
        },
      },
    ]);
  });

  it('answer 503 while they are rebuilt, as days do, and everything else keeps serving', async () => {
    const server = await startPublicServer();
    server.ready = false;
    for (const path of [...paths.map((one) => `${one}?range=7d`), '/v1/days/2026-01-31']) {
      const response = await server.get(path);
      await expectError(response, 503, 'public_stats_rebuilding');
      expect(response.headers.get('retry-after')).toBe('2');
    }
    expect((await server.get('/v1/status')).status).toBe(200);
    for (const path of paths) expect((await server.get(`${path}?range=x`)).status).toBe(400);
  });

  it.each(paths)('%s have one body for a tag, on every instance', async (path) => {
    const servers = [await startPublicServer(), await startPublicServer()];
    const bodies = new Map<string | null, string>();
    for (const stepMs of [0, 4_000, 17_000, 9_001, 29_000, 31_000])
      for (const { clock, get } of servers) {
        clock.advance(stepMs);
        const response = await get(`${path}?range=7d`, { 'Accept-Encoding': 'identity' });
        const body = await response.text();
        const tag = response.headers.get('etag');
        expect((bodies.get(tag) ?? body) === body).toBe(true);
        bodies.set(tag, body);
      }
    expect(bodies.size).toBe(3);
  });
});
