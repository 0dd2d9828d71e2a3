import { getEventListeners } from 'node:events';
import { describe, expect, it, vi } from 'vitest';
import { createClient, type EventsOptions } from '../../http/client/index.ts';
import { useVirtualTime } from '../support/virtualTime.ts';

useVirtualTime();

interface Connection {
  readonly path: string;
  readonly headers: Record<string, string>;
  readonly atMs: number;
  readonly signal: AbortSignal;
  /** Sends a piece of the stream; null ends it. */
  send(piece: string | Uint8Array | null): void;
}

/** A client, and a service that opens every stream unless another answer is given. */
function createWorld(options: EventsOptions = {}, answers: readonly ((path: string) => Response)[] = []) {
  const startMs = Date.now();
  const connections: Connection[] = [];
  const send: typeof fetch = async (url, { headers, signal } = {}) => {
    const path = String(url).replace('http://miner.example', '');
    let controller: ReadableStreamDefaultController<Uint8Array> | undefined;
    const body = new ReadableStream<Uint8Array>({
      start: (given) => {
        controller = given;
      },
    });
    signal?.addEventListener('abort', () => controller?.error(signal.reason), { once: true });
    connections.push({
      path,
      headers: headers as Record<string, string>,
      atMs: Math.round(Date.now() - startMs),
      signal: signal as AbortSignal,
      send: (piece) => {
        if (piece === null) controller?.close();
        else controller?.enqueue(Buffer.from(piece));
      },
    });
    return answers[connections.length - 1]?.(path) ?? new Response(body);
  };
  const reconnects: string[] = [];
  const ending = new AbortController();
  const headers = { 'User-Agent': 'me' };
  const client = createClient({ baseUrl: 'http://miner.example', headers, fetch: send });
  const onReconnect = (error: unknown) => reconnects.push(String(error));
  const events = client.events({ onReconnect, signal: ending.signal, ...options });
  const received: string[] = [];
  const reading = (async () => {
    for await (const { event, position } of events) received.push(`${event.id} at ${position}`);
  })();
  const failure = reading.catch((error) => String(error));
  const listConnections = () =>
    connections.map(({ path, headers, atMs }) => [path, headers['Last-Event-ID'] ?? null, atMs]);
  /** Sends a piece over the newest connection, and lets it arrive. */
  const deliver = async (piece: string | Uint8Array | null) => {
    connections.at(-1)?.send(piece);
    await vi.advanceTimersByTimeAsync(0);
  };
  return { connections, listConnections, reconnects, received, ending, failure, deliver, events };
}

const stream = '/v1/events/stream';
const message = (id: string, text = '') =>
  `id: ${id}\nevent: player.miner_minted\ndata: {"id":"event ${id}${text}"}\n\n`;
const refuse =
  (status: number, headers = {}) =>
  () =>
    Response.json({ error: 'some_code' }, { status, headers });
const pageOf =
  (...ids: string[]) =>
  () =>
    Response.json({ status: 'available', events: ids.map((id) => ({ id })) });
const unavailable = (reason: string) => () => Response.json({ status: 'unavailable', reason });

describe('a connection', () => {
  it('is kept while heartbeats arrive, and replaced 45 seconds after the last one', async () => {
    const { connections, reconnects, deliver } = createWorld();
    for (let heartbeat = 0; heartbeat < 4; heartbeat++) {
      await vi.advanceTimersByTimeAsync(44_999);
      await deliver(':\n\n');
    }
    await vi.advanceTimersByTimeAsync(44_999);
    expect([connections.length, reconnects]).toEqual([1, []]);
    await vi.advanceTimersByTimeAsync(1_001);
    expect([connections.length, reconnects]).toEqual([2, ['ConnectionLost: no data for 45 seconds']]);
    expect(connections.map(({ signal }) => signal.aborted)).toEqual([true, false]);
  });

  it('is given up after 45 seconds without an answer', async () => {
    const fetch = (_: unknown, { signal }: RequestInit = {}) =>
      new Promise<Response>((_resolve, reject) => {
        signal?.addEventListener('abort', () => reject(signal.reason));
      });
    const [ending, onReconnect] = [new AbortController(), vi.fn()];
    const client = createClient({ baseUrl: 'http://miner.example', fetch });
    const first = client.events({ signal: ending.signal, onReconnect }).next();
    first.catch(() => undefined);
    await vi.advanceTimersByTimeAsync(45_000);
    expect(onReconnect.mock.calls.map(String)).toEqual(['ConnectionLost: no data for 45 seconds']);
    ending.abort();
  });

  it('is replaced after waits that grow, and begin again after a message', async () => {
    const { listConnections, reconnects, received, deliver } = createWorld({ category: 'players' }, [
      refuse(503),
      refuse(429, { 'Retry-After': '9' }),
      refuse(502),
    ]);
    await vi.advanceTimersByTimeAsync(550 + 9_900 + 2_200);
    await deliver(null);
    await vi.advanceTimersByTimeAsync(4_400);
    await deliver(message('a'));
    await deliver(null);
    await vi.advanceTimersByTimeAsync(550);
    const path = `${stream}?category=players`;
    expect(listConnections()).toEqual([
      [path, null, 0],
      [path, null, 550],
      [path, null, 10_450],
      [path, null, 12_650],
      [path, null, 17_050],
      [path, 'a', 17_600],
    ]);
    expect(reconnects).toEqual([
      ...[503, 429, 502].map((status) => `ServiceError: : ${status} some_code`),
      'null',
      'null',
    ]);
    expect(received).toEqual(['event a at a']);
  });

  it('ends with an error that is not temporary', async () => {
    const { failure, connections } = createWorld({ after: 'a' }, [refuse(400)]);
    expect(await failure).toBe('ServiceError: : 400 some_code');
    expect([connections.length, vi.getTimerCount()]).toEqual([1, 0]);
  });

  it.each([
    [
      'the reader',
      undefined,
      ({ events, deliver }: ReturnType<typeof createWorld>) => {
        void events.return(undefined as never);
        return deliver(message('b')); // A generator ends when its next value arrives.
      },
    ],
    [
      'the signal',
      'Error: given up',
      ({ ending }: ReturnType<typeof createWorld>) => ending.abort(new Error('given up')),
    ],
  ])('leaves nothing behind when %s ends it', async (_, outcome, end) => {
    const world = createWorld();
    const { connections, ending, failure, deliver, reconnects } = world;
    await deliver(message('a'));
    expect(getEventListeners(ending.signal, 'abort')).toHaveLength(1);
    await end(world);
    expect([await failure, reconnects]).toEqual([outcome, []]);
    expect([connections.map(({ signal }) => signal.aborted), vi.getTimerCount()]).toEqual([[true], 0]);
    expect(getEventListeners(ending.signal, 'abort')).toEqual([]);
  });

  it('is not opened, or opened again, after the end of its signal', async () => {
    const signal = AbortSignal.abort(new Error('given up'));
    const never = createWorld({ signal });
    expect([await never.failure, never.connections.length]).toEqual(['Error: given up', 0]);
    const once = createWorld({}, [refuse(503)]);
    await vi.advanceTimersByTimeAsync(100);
    once.ending.abort(new Error('given up'));
    expect(await once.failure).toBe('Error: given up');
    expect([once.connections.length, vi.getTimerCount()]).toEqual([1, 0]);
  });
});

describe('a message', () => {
  it('may arrive in any pieces, and gives a position without an event', async () => {
    const { received, listConnections, deliver } = createWorld();
    const pieces = ['retry: 30', '00\n:\nid: be', 'gin\nevent: posi', 'tion\ndata: {}\n', '\n'];
    for (const piece of [...pieces, null]) await deliver(piece);
    await vi.advanceTimersByTimeAsync(550);
    expect([received, listConnections().at(-1)]).toEqual([[], [stream, 'begin', 550]]);
    const bytes = new TextEncoder().encode(message('a', ' é'));
    for (const byte of bytes) await deliver(new Uint8Array([byte]));
    await deliver('data: {"id":"without a position"}\n\n');
    expect(received).toEqual(['event a é at a', 'without a position at a']);
    await deliver(null);
    await vi.advanceTimersByTimeAsync(550);
    expect(listConnections().at(-1)).toEqual([stream, 'a', 1_100]);
  });
});

const ofPlayers = { category: 'players' } as const;
const ofWheel = { category: 'measurement' } as const;
const none = unavailable('source_disabled');
const later = [unavailable('indexer_unavailable'), unavailable('not_yet_safe'), pageOf('a')];

it.each<[string, EventsOptions, (() => Response)[], string[], string[]]>([
  [
    'begin with the oldest of them',
    { newest: 3, ...ofPlayers },
    [pageOf('c', 'b', 'a')],
    ['a at a'],
    ['/v1/events?category=players&limit=3 null 0', `${stream}?category=players a 0`],
  ],
  [
    'are none of an empty feed',
    { newest: 3 },
    [pageOf()],
    [],
    ['/v1/events?limit=3 null 0', `${stream} null 0`],
  ],
  [
    'are none without readings',
    { newest: 1, ...ofWheel },
    [none],
    [],
    ['/v1/events?category=measurement&limit=1 null 0', `${stream}?category=measurement null 0`],
  ],
  [
    'are waited for ever longer while the feed is unavailable',
    { newest: 1 },
    later,
    ['a at a'],
    [...[0, 550, 1_650].map((atMs) => `/v1/events?limit=1 null ${atMs}`), `${stream} a 1650`],
  ],
  ['are ignored after a position', { newest: 3, after: 'p' }, [], [], [`${stream} p 0`]],
])('the newest events %s', async (_, options, answers, expected, expectedConnections) => {
  const { received, connections, listConnections } = createWorld(options, answers);
  await vi.advanceTimersByTimeAsync(2_000);
  expect(received).toEqual(expected);
  expect(listConnections().map((one) => one.map(String).join(' '))).toEqual(expectedConnections);
  expect(new Set(connections.map(({ headers }) => headers['User-Agent']))).toEqual(new Set(['me']));
});
