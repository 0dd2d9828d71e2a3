import { setImmediate as nextTurn } from 'node:timers/promises';
import { brotliDecompressSync, gunzipSync } from 'node:zlib';
import { Registry } from 'prom-client';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { encodeFeedPosition, type FeedNews, type FeedViews } from '../../actors/views/feed/feedViews.ts';
import type { ContentEncoding } from '../../http/server/answers/contentEncoding.ts';
import { prepareResponse } from '../../http/server/answers/preparedResponse.ts';
import type { Exchange, ResponseWriter } from '../../http/server/answers/responseWriter.ts';
import { createEventStream, streamsOfClientMax } from '../../http/server/events/eventStream.ts';
import { createLoadGuard } from '../../http/server/limits/loadGuard.ts';
import type { ObservationReader } from '../../storage/observationReader.ts';
import { listen } from '../support/http/eventSource.ts';
import { startPublicServer } from '../support/http/publicServer.ts';
import { manualClock } from '../support/manualClock.ts';
import { eventually } from '../support/processes/childProcess.ts';

const nowhere = { run: '', position: 0, ordinal: 0 };
const lastEventId = encodeFeedPosition({ measurement: nowhere, chain: nowhere });

/** An event stream whose connections a test opens and aborts. Its reads never end unless the missed events are given. */
function createWorld(missed: FeedNews | null = null) {
  const reads: AbortSignal[] = [];
  const state = { listeners: 0, ended: 0, asked: 0 };
  const feed: Partial<FeedViews> = {
    refresh: () => undefined,
    position: () => null,
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
    write: () => true,
    cork: (run: () => void) => run(),
    end: () => state.ended++,
  };
  const stream = createEventStream({
    feed: feed as FeedViews,
    writer: { beginStream: () => response } as unknown as ResponseWriter,
    registry: new Registry(),
    loadGuard: null,
    onRefused: () => undefined,
  });
  /** Opens a stream. @returns what aborts its connection, or the code of the refusal. */
  const open = () => {
    const exchange = { client: [0, 0, 0xffff, 1] } as unknown as Exchange;
    return stream.open(exchange, { query: new URLSearchParams(), lastEventId })?.code ?? onAborted;
  };
  const abort = (opened: ReturnType<typeof open> | undefined) => {
    if (typeof opened !== 'function') throw new Error(`no stream is open: ${opened}`);
    opened();
  };
  return { stream, reads, state, open, abort };
}

describe('a client of the event stream that leaves', () => {
  it('makes room for one other stream, even if its connection is aborted twice', () => {
    const { open, abort } = createWorld();
    const opened = Array.from({ length: streamsOfClientMax }, open);
    expect(open()).toBe('rate_limited');
    for (let time = 0; time < 2; time++) abort(opened[0]);
    expect(open()).toBeTypeOf('function');
    expect(open()).toBe('rate_limited');
  });

  it('leaves no timer and no listener of the feed behind if it was the last', () => {
    vi.useFakeTimers();
    onTestFinished(() => void vi.useRealTimers());
    const { state, open, abort } = createWorld();
    const opened = [open(), open()];
    expect(state.listeners).toBe(1);
    abort(opened[0]);
    expect(state.listeners).toBe(1);
    abort(opened[1]);
    vi.clearAllMocks();
    vi.advanceTimersByTime(0);
    expect([state.listeners, vi.getTimerCount()]).toEqual([0, 0]);
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

describe('a client of the event stream that is ahead of this process', () => {
  it('is not looked at again before the feed has changed', async () => {
    const position = { measurement: nowhere, chain: nowhere };
    const { state, open } = createWorld({
      from: position,
      position,
      isComplete: false,
      items: [],
      context: {} as FeedNews['context'],
    });
    open();
    for (let turn = 0; turn < 20; turn++) await nextTurn();
    expect(state.asked).toBe(1);
  });
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
    const server = await startPublicServer({ observations });
    const ask = () => server.get('/v1/public/installations/wheel-1/observations');
    await ask();
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
      const { body } = prepareResponse(json, headers).encoded(encoding);
      expect(body()).toBe(body());
      expect(JSON.parse(unpack(body()).toString())).toEqual(json);
    }
  },
);
