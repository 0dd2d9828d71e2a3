import { request as httpRequest } from 'node:http';
import { describe, expect, it } from 'vitest';
import {
  type ObservationPage,
  type ObservationReader,
  StoreUnavailable,
} from '../../actors/pages/olderRows.ts';
import { encodeObservationCursor } from '../../http/responses/observations.ts';
import { waitingMax } from '../../http/server/answers/pendingReads.ts';
import { collectLines } from '../support/collectLines.ts';
import { expectError } from '../support/http/expectError.ts';
import { startPublicServer } from '../support/http/publicServer.ts';
import { eventually, shareInFile } from '../support/processes/lifetime.ts';
import { acceptedReading } from '../support/readings/acceptedReading.ts';

const path = '/v1/public/installations/wheel-1/observations';

/** A request whose client can leave. */
function ask(base: string) {
  const asked = httpRequest(`${base}${path}`);
  asked.on('error', () => undefined);
  return asked.end();
}

/** Positions 10, 20, ... 2500, in memory. */
const readings = Array.from({ length: 250 }, (_, index) => acceptedReading({ position: (index + 1) * 10 }));
const inMemory: ObservationReader = {
  page: (_installationId, afterPosition, limit) => {
    const found = readings.filter(({ position }) => position > afterPosition);
    return { items: found.slice(0, limit), more: found.length > limit };
  },
};

interface Body {
  readonly items: readonly { readonly cursor: string }[];
  readonly nextCursor: string | null;
}

const sharedServer = shareInFile(() => startPublicServer({ observations: inMemory }));

async function body(query: string): Promise<Body> {
  const response = await (await sharedServer()).get(`${path}${query}`);
  const { status, headers } = response;
  expect([status, headers.get('etag'), headers.get('cache-control')]).toEqual([200, null, null]);
  return (await response.json()) as Body;
}

describe('observations', () => {
  it.each([
    ['', 100],
    ['?limit=', 1],
    ['?limit=0', 1],
    ['?limit=-7', 1],
    ['?limit=-0', 1],
    ['?limit=99.0', 99],
    ['?limit=1', 1],
    ['?limit=100', 100],
    ['?limit=101', 100],
    ['?limit=1e1', 10],
    ['?limit=0x10', 16],
    ['?limit=%2025%20', 25],
    ['?limit=2.5', 100],
    ['?limit=ten', 100],
    ['?limit=NaN', 100],
    ['?limit=Infinity', 100],
    ['?limit=9007199254740993', 100],
    ['?other=1', 100],
    ['?limit=7&limit=9', 7],
  ])('have for %s a page of %d, and are never refused', async (query, length) => {
    expect((await body(query)).items).toHaveLength(length);
  });

  it('name no next cursor when the last page is full', async () => {
    const page = await body(`?limit=50&cursor=${encodeObservationCursor(2_000)}`);
    expect([page.items.length, page.nextCursor]).toEqual([50, null]);
    const before = await body(`?limit=49&cursor=${encodeObservationCursor(2_000)}`);
    expect(before.nextCursor).toBe(before.items.at(-1)?.cursor);
  });

  it.each([
    '',
    'abc',
    '%',
    '0',
    encodeObservationCursor(1).slice(0, 1),
    ...['0', '-1', '01', '1.5', '1e3', '9007199254740993'].map((text) =>
      Buffer.from(text).toString('base64url'),
    ),
    `${encodeObservationCursor(10)}=`,
    `${encodeObservationCursor(10)}%20`,
    'A'.repeat(600),
  ])('refuse the cursor %j', async (cursor) => {
    const { get } = await sharedServer();
    await expectError(await get(`${path}?cursor=${cursor}`), 400, 'invalid_cursor');
  });

  it('name the installation first when two parts are invalid', async () => {
    const { get } = await sharedServer();
    const response = await get('/v1/public/installations/a~b/observations?cursor=!');
    await expectError(response, 400, 'invalid_installation_id');
  });
});

/** A reader whose answers the test gives, one by one. */
function createManualReader() {
  type Waiting = { resolve: (page: ObservationPage) => void; signal: AbortSignal };
  const waiting: Waiting[] = [];
  const reader: ObservationReader = {
    page: (_installationId, _afterPosition, _limit, signal) =>
      new Promise((resolve) => waiting.push({ resolve, signal })),
  };
  return { reader, waiting };
}

describe('observations that need the database', () => {
  it('are answered 500 without details when the read fails', async () => {
    const error = new Error('password=hunter2');
    const server = await startPublicServer({ observations: { page: () => Promise.reject(error) } });
    const response = await server.get(path);
    await expectError(response, 500, 'internal_error');
    expect(response.headers.get('retry-after')).toBeNull();
  });

  const unavailable = (limit: number) => new StoreUnavailable(`no table for ${limit}`);
  it.each<[string, ObservationReader['page']]>([
    [
      'at once',
      (_installationId, _afterPosition, limit) => {
        throw unavailable(limit);
      },
    ],
    ['later', (_installationId, _afterPosition, limit) => Promise.reject(unavailable(limit))],
  ])('log once why they are 503, also if the read fails %s', async (_, page) => {
    const { lines, logger } = collectLines();
    const server = await startPublicServer({ observations: { page }, logger });
    for (let limit = 1; limit <= 3; limit++) {
      const response = await server.get(`${path}?limit=${limit}`);
      await expectError(response, 503, 'database_unavailable');
      expect(response.headers.get('retry-after')).toBe('2');
    }
    expect(lines.map(({ level, err }) => [level, err.message])).toEqual([[40, 'no table for 1']]);
    const failures = await server.registry.getSingleMetric('miner_http_failures_total')?.get();
    expect(failures?.values.filter(({ value }) => value !== 0)).toEqual([]);
  });

  it('are answered 504 when it is slow, and the read is cancelled', async () => {
    const { reader, waiting } = createManualReader();
    const server = await startPublicServer({ observations: reader, readTimeoutMs: 60 });
    const inTime = server.get(path);
    await eventually(() => waiting.length === 1, 'a read');
    waiting[0]?.resolve({ items: [], more: false });
    expect((await inTime).status).toBe(200);
    const response = await server.get(path);
    await expectError(response, 504, 'request_timeout');
    // The deadline of the read before has passed by now, and was cancelled with its answer.
    expect(waiting.map(({ signal }) => signal.aborted)).toEqual([false, true]);
    waiting[1]?.resolve({ items: [], more: false });
    expect((await server.get('/v1/status')).status).toBe(200);
  });

  it('are answered 503 database_busy while 64 others wait, which leave their places once they are over', async () => {
    const { reader, waiting } = createManualReader();
    const server = await startPublicServer({ observations: reader });
    const left = Array.from({ length: waitingMax }, () => ask(server.base));
    await eventually(() => waiting.length === waitingMax, 'the reads');
    const busy = await server.get(path);
    await expectError(busy, 503, 'database_busy');
    expect(busy.headers.get('retry-after')).toBe('2');
    expect((await server.get('/v1/public/telemetry')).status).toBe(200);
    for (const one of left) one.destroy();
    await eventually(() => waiting.every(({ signal }) => signal.aborted), 'the end of the reads');
    const answers = Array.from({ length: waitingMax }, () => server.get(path));
    await eventually(() => waiting.length === 2 * waitingMax, 'the reads of others');
    expect((await server.get(path)).status).toBe(503);
    for (const { resolve } of waiting) resolve({ items: [], more: false });
    for (const response of await Promise.all(answers)) expect(response.status).toBe(200);
    const again = server.get(path);
    await eventually(() => waiting.length === 2 * waitingMax + 1, 'room for another');
    waiting.at(-1)?.resolve({ items: [], more: false });
    expect((await again).status).toBe(200);
    expect(await server.registry.metrics()).toContain('miner_http_reads_in_flight 0');
  });
});
