import { getEventListeners } from 'node:events';
import { describe, expect, it, vi } from 'vitest';
import { createClient } from '../../http/client/index.ts';
import type { ClientOptions } from '../../http/client/request.ts';
import { useVirtualTime } from '../support/virtualTime.ts';

useVirtualTime();

/** A client whose requests get these answers, the last one from then on. */
function createWorld(answers: readonly (() => Response)[], options: Partial<ClientOptions> = {}) {
  const asked: { url: string; headers: Record<string, string>; atMs: number }[] = [];
  const startMs = Date.now();
  const send: typeof fetch = async (url, { headers, signal } = {}) => {
    signal?.throwIfAborted();
    asked.push({
      url: String(url),
      headers: headers as Record<string, string>,
      atMs: Math.round(Date.now() - startMs),
    });
    return (answers[asked.length - 1] ?? (answers.at(-1) as () => Response))();
  };
  const client = createClient({ baseUrl: 'http://miner.example', fetch: send, ...options });
  return { client, asked, listTimes: () => asked.map(({ atMs }) => atMs) };
}

const refuse =
  (status: number, headers = {}) =>
  () =>
    Response.json({ error: 'some_code' }, { status, headers });
const failToConnect = () => {
  throw new TypeError('fetch failed');
};
const answer = (body: object, etag?: string) => () =>
  Response.json(body, etag === undefined ? {} : { headers: { ETag: etag } });

/** @returns the error of a request, once all of its attempts have failed. */
async function waitForError(asked: Promise<unknown>) {
  const error = asked.then(
    () => 'none',
    (reason) => reason,
  );
  await vi.runAllTimersAsync();
  return error;
}

describe('a request that fails', () => {
  it.each([
    ['nothing answers', failToConnect, {}, [0, 550, 1_650, 3_850, 8_250]],
    ['of too many requests', refuse(429), {}, [0, 550, 1_650, 3_850, 8_250]],
    ['a proxy has no service', refuse(502), {}, [0, 550, 1_650, 3_850, 8_250]],
    ['a read takes too long', refuse(504), { attemptsMax: 2 }, [0, 550]],
    ['asked to wait', refuse(503, { 'Retry-After': '2' }), {}, [0, 2_200, 4_400, 6_600, 11_000]],
    [
      'asked to wait until a date',
      refuse(503, { 'Retry-After': 'Thu, 26 Nov 2026 07:00:00 GMT' }),
      {},
      [0, 550, 1_650, 3_850, 8_250],
    ],
    [
      'the wait has grown to half a minute',
      refuse(503),
      { attemptsMax: 6, firstDelayMs: 8_000 },
      [0, 8_800, 26_400, 59_400, 92_400, 125_400],
    ],
    ['the request is wrong', refuse(400), {}, [0]],
    ['the service fails', refuse(500), {}, [0]],
  ] as const)('because %s is repeated so often and with these waits', async (_, fail, options, times) => {
    const { client, listTimes } = createWorld([fail], options);
    await waitForError(client.get('/v1/status'));
    expect(listTimes()).toEqual(times);
  });

  it('says what the service has said', async () => {
    const headers = { 'X-Request-Id': 'request-1', 'Retry-After': '3' };
    const { client } = createWorld([refuse(409, headers)]);
    expect(await waitForError(client.get('/v1/status'))).toMatchObject({
      message: ': 409 some_code (request request-1)',
      status: 409,
      code: 'some_code',
      requestId: 'request-1',
      retryAfterMs: 3_000,
    });
    const proxied = createWorld([() => new Response('<html>', { status: 404 })]);
    const unknown = { message: ': 404', code: null, requestId: null, retryAfterMs: null };
    expect(await waitForError(proxied.client.get('/v1/status'))).toMatchObject(unknown);
  });

  it('ends at once with its signal, and leaves nothing behind', async () => {
    const { client, asked } = createWorld([refuse(503)]);
    const ending = new AbortController();
    const { signal } = ending;
    const given = client.get('/v1/status', {}, { signal });
    given.catch(() => undefined);
    await vi.advanceTimersByTimeAsync(600);
    expect([asked.length, getEventListeners(signal, 'abort').length]).toEqual([2, 1]);
    ending.abort(new Error('given up'));
    await expect(given).rejects.toThrow('given up');
    expect(vi.getTimerCount()).toBe(0);
    await expect(client.get('/v1/status', {}, { signal })).rejects.toThrow('given up');
    await expect(client.pages('/v1/events', {}, { signal }).next()).rejects.toThrow('given up');
    expect(asked).toHaveLength(2);
  });
});

it.each([
  [{}, 'http://miner.example/v1/owners/0xa%2Fb/miners'],
  [{ limit: 3, cursor: undefined }, 'http://miner.example/v1/owners/0xa%2Fb/miners?limit=3'],
])('a request with %j asks for %s, with the headers of the client', async (query, url) => {
  const headers = { 'User-Agent': 'me' };
  const { client, asked } = createWorld([answer({})], { baseUrl: 'http://miner.example//', headers });
  await client.get('/v1/owners/{address}/miners', { address: '0xa/b', ...(query as object) });
  expect(asked).toEqual([{ url, headers, atMs: 0 }]);
});

describe('polling', () => {
  it('sends the tag of the newest body, and no tag if that has none', async () => {
    const unchanged = () => new Response(null, { status: 304 });
    const bodies = [answer({ body: 1 }, '"1"'), unchanged, answer({ body: 2 }, '"2"'), answer({ body: 3 })];
    const { client, asked } = createWorld(bodies, { headers: { 'User-Agent': 'me' } });
    const states = client.poll('/v1/status', {});
    const seen: unknown[] = [];
    for (let state = 0; state < 4; state++) {
      const next = states.next();
      await vi.advanceTimersByTimeAsync(4_000);
      seen.push((await next).value);
    }
    expect(seen).toEqual([{ body: 1 }, { body: 2 }, { body: 3 }, { body: 3 }]);
    expect(asked.map(({ headers }) => headers)).toEqual(
      [{}, { 'If-None-Match': '"1"' }, { 'If-None-Match': '"1"' }, { 'If-None-Match': '"2"' }, {}].map(
        (tag) => ({ 'User-Agent': 'me', ...tag }),
      ),
    );
  });

  it('goes on while failures may pass, and ends with its signal', async () => {
    const answers = [...Array(7).fill(failToConnect), answer({}), refuse(503)];
    const { client, listTimes } = createWorld(answers, { attemptsMax: 2 });
    const ending = new AbortController();
    const failures: string[] = [];
    const onFailure = (error: unknown) => failures.push(String(error));
    const options = { intervalMs: 10_000, signal: ending.signal, onFailure };
    const states = client.poll('/v1/status', {}, options);
    const first = states.next();
    await vi.advanceTimersByTimeAsync(102_849);
    expect(await first).toEqual({ done: false, value: {} });
    expect(listTimes()).toEqual([0, 550, 1_650, 3_850, 8_250, 17_050, 34_650, 67_650]);
    expect(failures).toEqual(Array(7).fill('TypeError: fetch failed'));
    const next = states.next();
    next.catch(() => undefined);
    await vi.advanceTimersByTimeAsync(10_000);
    expect(listTimes().slice(8)).toEqual([112_849]);
    ending.abort(new Error('given up'));
    await expect(next).rejects.toThrow('given up');
    expect(vi.getTimerCount()).toBe(0);
    expect(getEventListeners(ending.signal, 'abort')).toEqual([]);
  });

  it('ends with its signal between two requests, too', async () => {
    const { client, asked } = createWorld([answer({})]);
    const ending = new AbortController();
    const states = client.poll('/v1/status', {}, { signal: ending.signal });
    await states.next();
    const next = states.next();
    next.catch(() => undefined);
    await vi.advanceTimersByTimeAsync(1_999);
    ending.abort(new Error('given up'));
    await expect(next).rejects.toThrow('given up');
    expect([asked.length, vi.getTimerCount()]).toEqual([1, 0]);
  });

  it('ends at once if its signal was aborted meanwhile', async () => {
    const { client, asked } = createWorld([answer({})]);
    const ending = new AbortController();
    const states = client.poll('/v1/status', {}, { signal: ending.signal });
    await states.next();
    ending.abort(new Error('given up'));
    const next = states.next();
    next.catch(() => undefined);
    await vi.advanceTimersByTimeAsync(0);
    expect([asked.length, vi.getTimerCount()]).toEqual([1, 0]);
    await expect(next).rejects.toThrow('given up');
  });
});
