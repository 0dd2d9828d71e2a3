import { setImmediate as nextTurn } from 'node:timers/promises';
import { brotliDecompressSync, gunzipSync } from 'node:zlib';
import { Registry } from 'prom-client';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { encodeFeedPosition, type FeedPosition } from '../../actors/feed/feedPosition.ts';
import type { ObservationReader } from '../../actors/older/observationReader.ts';
import { RecordsUnavailable } from '../../actors/older/recordsUnavailable.ts';
import type { FeedNews } from '../../actors/views/feed/feedNews.ts';
import type { FeedViews } from '../../actors/views/feed/feedViews.ts';
import type { ContentEncoding } from '../../http/server/answers/contentEncoding.ts';
import { prepareResponse } from '../../http/server/answers/preparedResponse.ts';
import type { Exchange, ResponseWriter } from '../../http/server/answers/responseWriter.ts';
import { selectTransport } from '../../http/server/engine/uws.ts';
import { createBroadcasts } from '../../http/server/events/broadcasts.ts';
import {
  clientsMax,
  createEventStream,
  stateWaitMaxMs,
  streamsOfClientMax,
  streamsOfSiteMax,
} from '../../http/server/events/eventStream.ts';
import { parseStreamRequest } from '../../http/server/events/streamForm.ts';
import { createLoadGuard } from '../../http/server/limits/loadGuard.ts';
import { createRateLimiter } from '../../http/server/limits/rateLimiter.ts';
import type { AddressWords } from '../../http/server/requests/ipAddress.ts';
import { listen } from '../support/http/eventSource.ts';
import { startPublicServer } from '../support/http/publicServer.ts';
import { manualClock } from '../support/manualClock.ts';
import { eventually } from '../support/processes/childProcess.ts';

const nowhere = { run: '', position: 0, ordinal: 0 };
const resumed = { measurement: { ...nowhere, position: 7 }, chain: nowhere };
const lastEventId = encodeFeedPosition({ measurement: nowhere, chain: nowhere });
const positionMessage = `id: ${encodeFeedPosition(resumed)}\nevent: position\ndata: {}\n\n`;
/** News without events from the position after a known event. */
const nothingMissed = {
  from: resumed,
  position: resumed,
  isComplete: true,
  items: [],
} as unknown as FeedNews;

/** An event stream whose connections a test opens and aborts. Its reads never end unless the missed events are given. */
function createWorld(missed: FeedNews | null = null) {
  const reads: AbortSignal[] = [];
  const state = {
    listeners: 0,
    ended: 0,
    asked: 0,
    corked: 0,
    position: null as FeedPosition | null,
    hasViews: true,
    located: 0,
  };
  const clock = manualClock();
  const written: string[] = [];
  const feed: Partial<FeedViews> = {
    refresh: () => undefined,
    position: () => state.position,
    locate: async (id) => {
      state.located++;
      if (id === 'chain:unreadable') throw new RecordsUnavailable('unavailable');
      return id === 'chain:known' ? resumed : id === 'chain:unknown' ? null : 'unavailable';
    },
    after: () => {
      state.asked++;
      if (missed !== null) return missed;
      return (signal: AbortSignal) => {
        reads.push(signal);
        return new Promise(() => undefined);
      };
    },
    listen: () => {
      state.listeners++;
      return () => state.listeners--;
    },
  };
  let onAborted = () => undefined as unknown;
  const response = {
    onAborted: (handler: () => void) => {
      onAborted = handler;
    },
    onWritable: () => undefined,
    write: (text: string) => written.push(text) > 0,
    cork: (run: () => void) => {
      state.corked++;
      run();
    },
    end: () => state.ended++,
  };
  const stream = createEventStream({
    feed: feed as FeedViews,
    hasViews: () => state.hasViews,
    transport: selectTransport(),
    writer: { beginStream: () => response } as unknown as ResponseWriter,
    registry: new Registry(),
    loadGuard: null,
    clock,
    readTimeoutMs: 10_000,
    onRefused: () => undefined,
  });
  /** Opens a stream. @returns what aborts its connection, or the code of the refusal. */
  const open = (client: AddressWords = [0, 0, 0xffff, 1], resumesAt = lastEventId, query = '') => {
    const exchange = { client } as unknown as Exchange;
    const request = parseStreamRequest(new URLSearchParams(query), resumesAt);
    if (request === null) throw new Error('the request is valid');
    return stream.open(exchange, request)?.code ?? onAborted;
  };
  const takeWritten = () => written.splice(0).join('');
  const abort = (opened: ReturnType<typeof open> | undefined) => {
    if (typeof opened !== 'function') throw new Error(`no stream is open: ${opened}`);
    opened();
  };
  return { stream, reads, state, clock, open, abort, takeWritten };
}

describe('a client of the event stream that leaves', () => {
  it.each<[string, number, (index: number) => AddressWords]>([
    ['of a client', streamsOfClientMax, () => [0, 0, 0xffff, 1]],
    ['of a site', streamsOfSiteMax, (index) => [0x20010db8, 0x00010000 + index, 0, 1]],
    ['in all', clientsMax, (index) => [0, 0, 0xffff, index]],
  ])('makes room for one other %s, even if its connection is aborted twice', (_, max, addressOf) => {
    const { stream, open, abort } = createWorld();
    onTestFinished(() => stream.close());
    const opened = Array.from({ length: max }, (_, index) => open(addressOf(index)));
    expect(opened.map((one) => typeof one)).toEqual(Array(max).fill('function'));
    expect(open(addressOf(max))).toBe('rate_limited');
    for (let time = 0; time < 2; time++) abort(opened[0]);
    expect(open(addressOf(max))).toBeTypeOf('function');
    expect(open(addressOf(max + 1))).toBe('rate_limited');
  });

  it('leaves no timer and no listener behind if it was the last', () => {
    vi.useFakeTimers();
    onTestFinished(() => void vi.useRealTimers());
    const { state, open, abort } = createWorld();
    // A later one finds both again.
    for (let time = 0; time < 2; time++) {
      const opened = [open(), open()];
      expect([state.listeners, vi.getTimerCount()]).toEqual([1, 3]);
      abort(opened[0]);
      expect(state.listeners).toBe(1);
      abort(opened[1]);
      vi.advanceTimersByTime(0);
      expect([state.listeners, vi.getTimerCount()]).toEqual([0, 0]);
    }
  });

  it('is written nothing more, though its next turn is scheduled', async () => {
    const { state, open, abort } = createWorld();
    // A position that fills the turn.
    state.position = { ...resumed, chain: { ...nowhere, run: 'x'.repeat(10_000) } };
    const opened = open(undefined, '');
    const { corked } = state;
    abort(opened);
    await nextTurn();
    expect(state.corked).toBe(corked);
  });

  it('does not wait for a read any longer', async () => {
    const { reads, open, abort } = createWorld();
    const opened = open();
    await nextTurn();
    expect(reads.map(({ aborted }) => aborted)).toEqual([false]);
    abort(opened);
    expect(reads.map(({ aborted }) => aborted)).toEqual([true]);
  });
});

describe('a client of the event stream', () => {
  it('learns its pause and position, and then gets comments', () => {
    vi.useFakeTimers();
    onTestFinished(() => void vi.useRealTimers());
    const { stream, state, open, takeWritten } = createWorld();
    onTestFinished(() => stream.close());
    open(undefined, '');
    expect(takeWritten()).toMatch(/^retry: \d+\n:\n$/);
    vi.advanceTimersByTime(1_000);
    expect(takeWritten()).toBe('');
    state.position = resumed;
    vi.advanceTimersByTime(999);
    expect(takeWritten()).toBe('');
    vi.advanceTimersByTime(1);
    expect(takeWritten()).toBe(`${positionMessage}:\n`);
    vi.advanceTimersByTime(12_999);
    expect(takeWritten()).toBe('');
    vi.advanceTimersByTime(15_001);
    expect(takeWritten()).toBe(':\n'.repeat(2));
  });

  it('is not sent a position if it has one', () => {
    const { open, takeWritten } = createWorld();
    open();
    expect(takeWritten()).toMatch(/^retry: \d+\n:\n$/);
  });

  it('is sent a named position even if it wants unnamed events', () => {
    const { stream, state, open, takeWritten } = createWorld();
    onTestFinished(() => stream.close());
    state.position = resumed;
    open(undefined, '', 'unnamed=1');
    expect(takeWritten()).toContain(positionMessage);
  });

  it('is asked for its own pause of three to six seconds', () => {
    const { stream, open, takeWritten } = createWorld();
    onTestFinished(() => stream.close());
    for (let index = 0; index < streamsOfClientMax; index++) open();
    const pauses = [...takeWritten().matchAll(/retry: (\d+)/g)]
      .map(([, ms]) => Number(ms))
      .sort((a, b) => a - b);
    expect(new Set(pauses).size).toBe(streamsOfClientMax);
    expect([pauses[0], (pauses.at(-1) as number) < 6_000]).toEqual([3_000, true]);
    // None of them is refused, even if all streams break at the same moment.
    const limiter = createRateLimiter();
    const waits = pauses.map((ms) => limiter.take([0, 0, 0xffff, 1], 'publicHeavy', 1_000 + ms).waitSeconds);
    expect(waits).toEqual(pauses.map(() => 0));
  });

  it('resumes after an event, or with its ID while unknown', async () => {
    const { stream } = createWorld();
    const locate = (id: string) => stream.locate(id, new AbortController().signal);
    expect(await locate('chain:known')).toEqual({ body: encodeFeedPosition(resumed) });
    expect(await locate('chain:unknown')).toEqual({ error: 'invalid_cursor' });
    for (const id of ['chain:other', 'chain:unreadable']) expect(await locate(id)).toEqual({ body: id });
  });
});

describe('a client of the event stream before state is restored', () => {
  /** Lets time pass, and then turns of the event loop. */
  const advance = async (ms: number) => {
    await vi.advanceTimersByTimeAsync(ms);
    await vi.advanceTimersByTimeAsync(1);
  };

  function createRestart(missed?: FeedNews) {
    vi.useFakeTimers();
    onTestFinished(() => void vi.useRealTimers());
    const world = createWorld(missed);
    world.state.hasViews = false;
    world.state.position = resumed;
    onTestFinished(() => world.stream.close());
    return world;
  }

  it('is sent comments, and begins or resumes once it is', async () => {
    const { state, open, takeWritten } = createRestart();
    open(undefined, '');
    open();
    takeWritten();
    await advance(30_000);
    expect([takeWritten(), state.asked]).toEqual([':\n'.repeat(4), 0]);
    state.hasViews = true;
    await advance(1_000);
    expect([takeWritten(), state.asked]).toEqual([`${positionMessage}:\n`, 1]);
  });

  it('has its event looked up once the feed is there, until ClickHouse answers', async () => {
    const { state, open, reads } = createRestart();
    open(undefined, 'chain:known');
    open(undefined, 'chain:unreadable');
    await advance(2_000);
    expect(state.located).toBe(0);
    state.position = null;
    state.hasViews = true;
    await advance(2_000);
    expect(state.located).toBe(0);
    state.position = resumed;
    await advance(1_000);
    expect([state.located, reads.length]).toEqual([2, 1]);
    await advance(3_000);
    expect([state.located, reads.length]).toEqual([5, 1]);
  });

  it('is asked once more for what arrived while its event was looked up', async () => {
    const { state, open } = createRestart(nothingMissed);
    open(undefined, 'chain:known');
    state.hasViews = true;
    await advance(3_000);
    expect([state.located, state.asked, state.ended]).toEqual([1, 2, 0]);
  });

  it('is ended if its event is unknown, to be refused next', async () => {
    const { state, open } = createRestart();
    open(undefined, 'chain:unknown');
    state.hasViews = true;
    await advance(1_000);
    expect([state.located, state.ended]).toEqual([1, 1]);
  });

  it('is ended if that takes long, and others are then refused', async () => {
    const { state, clock, open } = createRestart();
    for (let count = 0; count < 3; count++) open(undefined, '');
    clock.advance(stateWaitMaxMs - 1);
    await advance(1_000);
    expect([state.ended, open()]).toEqual([0, expect.any(Function)]);
    clock.advance(1);
    expect(open()).toBe('database_unavailable');
    await advance(1_000);
    expect([state.ended, state.listeners, vi.getTimerCount()]).toEqual([4, 0, 0]);
    // It is never late again.
    state.hasViews = true;
    expect(open()).toBeTypeOf('function');
  });
});

it('many clients are told in turns, one broadcast after the other', async () => {
  const broadcasts = createBroadcasts<number>();
  const told: string[] = [];
  const clients = Array.from({ length: 120 }, (_, client) => client);
  const list = (name: string) => clients.map((client) => `${name}${client}`);
  const start = (name: string) => broadcasts.start(clients, (client) => void told.push(`${name}${client}`));
  for (const name of ['a', 'b']) start(name);
  const counts = [told.length];
  for (let turn = 0; turn < 6; turn++) {
    await nextTurn();
    counts.push(told.length);
  }
  expect(counts).toEqual([50, 100, 120, 170, 220, 240, 240]);
  expect(told).toEqual([...list('a'), ...list('b')]);
  start('c');
  broadcasts.clear();
  for (let turn = 0; turn < 3; turn++) await nextTurn();
  expect(told.slice(240)).toEqual(list('c').slice(0, 50));
});

it('a client ahead of this process waits for the feed to change', async () => {
  const position = { measurement: nowhere, chain: nowhere };
  const news = { from: position, position, isComplete: false, items: [] } as unknown as FeedNews;
  const { state, open } = createWorld(news);
  open();
  for (let turn = 0; turn < 20; turn++) await nextTurn();
  expect(state.asked).toBe(1);
});

describe('a server that closes', () => {
  it('ends every event stream, and stops listening to the feed', async () => {
    const { stream, state, open } = createWorld();
    for (let count = 0; count < 3; count++) open();
    stream.close();
    expect(state).toMatchObject({ listeners: 0, ended: 3 });
    const server = await startPublicServer();
    const client = await listen(server.base);
    server.close();
    await eventually(() => client.state.isEnded, 'the end of the stream');
  });

  it('aborts reads that wait, and holds nothing of those that have ended', async () => {
    const signals: AbortSignal[] = [];
    const observations: ObservationReader = {
      page: async (_installationId, _after, _limit, signal) => {
        signals.push(signal);
        return signals.length === 1 ? { items: [], more: false } : new Promise(() => undefined);
      },
    };
    const readTimeoutMs = 123_457;
    const [begun, ended] = [vi.spyOn(globalThis, 'setTimeout'), vi.spyOn(globalThis, 'clearTimeout')];
    onTestFinished(() => void vi.restoreAllMocks());
    const server = await startPublicServer({ observations, readTimeoutMs });
    const ask = () => server.get('/v1/public/installations/wheel-1/observations');
    await ask();
    const deadline = begun.mock.calls.findIndex(([, ms]) => ms === readTimeoutMs);
    expect(ended).toHaveBeenCalledWith(begun.mock.results[deadline]?.value);
    ask().catch(() => undefined);
    await eventually(() => signals.length === 2, 'the second read');
    server.close();
    expect(signals.map(({ aborted }) => aborted)).toEqual([false, true]);
  });

  it('leaves no timer behind, and has none at rest', async () => {
    const countTimers = () => process.getActiveResourcesInfo().filter((kind) => kind === 'Timeout').length;
    const before = countTimers();
    const server = await startPublicServer({ rateLimits: true });
    expect(countTimers()).toBe(before);
    const guard = createLoadGuard(manualClock());
    guard.isOverloaded();
    expect(countTimers()).toBe(before + 1);
    guard.stop();
    server.close();
    expect(countTimers()).toBe(before);
  });
});

it.each([
  ['br', brotliDecompressSync],
  ['gzip', gunzipSync],
] as const)(
  'a body is compressed once as %s, however often it is sent',
  (encoding: ContentEncoding, unpack) => {
    const json = Array.from({ length: 500 }, (_, index) => `item ${index}`);
    for (const isSingle of [false, true]) {
      const headers = { tag: null, cacheControl: null, own: [], isSingle };
      const { encoded } = prepareResponse(json, headers);
      const sent = () => [encoded(encoding).headers, encoded(encoding).notModified, encoded(encoding).body()];
      for (const [index, part] of sent().entries()) expect(sent()[index]).toBe(part);
      expect(JSON.parse(unpack(encoded(encoding).body()).toString())).toEqual(json);
    }
  },
);
