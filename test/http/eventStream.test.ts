import { once } from 'node:events';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { Registry } from 'prom-client';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { type KeyedEventRow, toMeasurementRow } from '../../actors/feed/eventRows.ts';
import { encodeFeedPosition } from '../../actors/feed/feedPosition.ts';
import { type OlderEvents, StoreUnavailable } from '../../actors/pages/olderRows.ts';
import { createFeedNews } from '../../actors/views/feed/feedNews.ts';
import { feedEvent } from '../../http/responses/feed/feedEvent.ts';
import { createTurns } from '../../http/server/answers/pendingReads.ts';
import type { Exchange, ResponseWriter } from '../../http/server/answers/responseWriter.ts';
import { selectTransport } from '../../http/server/engine/uws.ts';
import {
  clientsMax,
  createEventStream,
  heartbeatMs,
  readMs,
  stateWaitMaxMs,
  streamsOfClientMax,
  streamsOfSiteMax,
} from '../../http/server/events/eventStream.ts';
import { parseStreamRequest } from '../../http/server/events/streamForm.ts';
import { createRateLimiter } from '../../http/server/limits/rateLimiter.ts';
import type { PublicServerSettings } from '../../http/server/publicServer.ts';
import type { AddressWords } from '../../http/server/requests/ipAddress.ts';
import { foldedThrough } from '../support/chain/economyState.ts';
import { evictShare, minted, recordStep } from '../support/chain/feedEvents.ts';
import { rewardsClaimed } from '../support/chain/feedOfEvents.ts';
import { createTestChainViews } from '../support/chain/testChainViews.ts';
import { listen, type Message } from '../support/http/eventSource.ts';
import { expectError } from '../support/http/expectError.ts';
import { createGrowingFeed } from '../support/http/growingFeed.ts';
import { startPublicServer } from '../support/http/publicServer.ts';
import { manualClock } from '../support/manualClock.ts';
import { eventually } from '../support/processes/lifetime.ts';
import { createSpeedRecords } from '../support/readings/speedRecords.ts';
import { noOlderEvents, olderAmong } from '../support/storage/noOlderRows.ts';

/** Progress that a test drives: each record is an event. */
function createRecords() {
  const records = createSpeedRecords();
  let rows: readonly KeyedEventRow[] = [];
  let failures = 0;
  const among = olderAmong(() => rows);
  const olderEvents: OlderEvents = {
    ...among,
    after: async (...asked) => {
      if (failures-- > 0) throw new StoreUnavailable('unavailable');
      return among.after(...asked);
    },
  };
  return {
    ...records,
    olderEvents,
    /** Moves a share of the events to the older ones, whose reads fail at first. */
    evictOldest(share: number, failing: number) {
      const progress = records.progress();
      if (progress === null) throw new Error('there is no record');
      const { window, gone } = evictShare(progress.events.toArray(), share);
      rows = gone.map((event) => toMeasurementRow(event, { storedBy: 1 }));
      failures = failing;
      records.replace({ ...progress, ...window });
    },
    /** The newest events are gone, as after a power failure of NATS. */
    loseNewest(count: number) {
      const progress = records.progress();
      if (progress !== null) records.replace({ ...progress, events: progress.events.skipLast(count) });
    },
  };
}

async function startServer(settings: Partial<PublicServerSettings> = {}) {
  const [chain, records] = [createGrowingFeed(), createRecords()];
  records.add(3);
  const { progress, olderEvents } = records;
  const server = await startPublicServer({ chain: chain.views, progress, olderEvents, ...settings });
  return { chain, records, server };
}

const measurements = '/v1/events/stream?category=measurement';

/** The sent records, each by its number. */
const listRecords = (messages: readonly Message[]) =>
  messages
    .filter(({ data }) => data.type === 'measurement.speed_record')
    .map(({ data }) => Number(data.payload.recordMmPerSecond) / recordStep);
const from = (first: number, last: number) =>
  Array.from({ length: last - first + 1 }, (_unused, index) => first + index);

describe('the event stream', () => {
  it('sends each event once, as the pages show it, when it becomes visible', async () => {
    const { chain, records, server } = await startServer();
    const all = await listen(server.base);
    const players = await listen(server.base, '/v1/events/stream?category=players');
    const unnamed = await listen(server.base, '/v1/events/stream?unnamed=1');
    expect(Object.fromEntries(all.response.headers)).toMatchObject({
      'content-type': 'text/event-stream; charset=utf-8',
      'cache-control': 'no-store, no-transform',
      'x-accel-buffering': 'no',
    });
    await eventually(() => [all, players, unnamed].every(({ state }) => state.lastId !== ''), 'positions');
    records.add(2);
    await eventually(() => listRecords(all.messages).length === 2, 'two records');
    for (const details of [minted, rewardsClaimed]) chain.add(details);
    await eventually(() => players.messages.length === 2, 'events of players');
    records.add(1);
    await eventually(() => listRecords(unnamed.messages).length === 3, 'the last record');
    const { events } = (await (await server.get('/v1/events?limit=100')).json()) as {
      events: { id: string }[];
    };
    const shown = new Map(events.map((event) => [event.id, event]));
    for (const { event, data } of all.messages) {
      expect(feedEvent.parse(data)).toEqual(data);
      expect(shown.get(data.id)).toEqual(data);
      expect(data.type).toBe(event);
    }
    const ids = all.messages.map(({ data }) => data.id);
    expect(new Set(ids).size).toBe(ids.length);
    expect(players.messages.map(({ data }) => data.id)).toEqual(ids.filter((id) => id.startsWith('chain:')));
    expect(new Set(unnamed.messages.map(({ event }) => event))).toEqual(new Set(['message']));
    expect(unnamed.messages.map(({ data }) => data.id)).toEqual(ids);
  });

  it.each([
    ['its last event', 0],
    ['an event that memory holds no more, once ClickHouse answers', 2],
  ])('resumes after %s', async (_, failedReads) => {
    const { records, server } = await startServer();
    const first = await listen(server.base, measurements);
    await eventually(() => first.state.lastId !== '', 'a position');
    records.add(1);
    await eventually(() => first.messages.length === 1, 'a record');
    first.end();
    records.add(350);
    if (failedReads > 0) records.evictOldest(0.95, failedReads);
    const again = await listen(server.base, measurements, { 'Last-Event-ID': first.state.lastId });
    await eventually(() => listRecords(again.messages).length === 350, '350 missed records');
    records.add(1);
    await eventually(() => listRecords(again.messages).length === 351, 'the next one');
    expect(listRecords(again.messages)).toEqual(from(5, 355));
    expect(await server.registry.metrics()).toContain(`miner_event_stream_failed_reads_total ${failedReads}`);
  });

  it('names a source that restarts, and sends what memory holds of it', async () => {
    const { records, server } = await startServer();
    const first = await listen(server.base, measurements);
    await eventually(() => first.state.lastId !== '', 'a position');
    first.end();
    records.loseNewest(2);
    const again = await listen(server.base, measurements, { 'Last-Event-ID': first.state.lastId });
    await eventually(() => again.messages.length > 1, 'the events of memory');
    expect(again.messages[0]).toEqual({
      id: first.state.lastId,
      event: 'restarted',
      data: { source: 'measurement' },
    });
    const kept = records.progress()?.events.size ?? 0;
    await eventually(() => again.messages.length === 1 + kept, 'all of them');
    expect(again.state.lastId).not.toBe(first.state.lastId);
  });

  it.each([
    ['in the query', 'lastEventId=one', '', 'one'],
    ['of the header, if the query has one too', 'lastEventId=one', 'two', 'two'],
    ['that comes last in the query', 'lastEventId=one&lastEventId=two', '', 'two'],
  ])('resumes after the ID %s', (_, query, header, expected) => {
    expect(parseStreamRequest(new URLSearchParams(query), header)?.lastEventId).toBe(expected);
  });

  it('is refused for a wrong cursor, and beyond the bound of streams', async () => {
    const { server } = await startServer({ rateLimits: true });
    for (const [query, headers, error] of [
      ['?category=none', {}, 'invalid_query'],
      ['?limit=3', {}, 'invalid_query'],
      ['?unnamed=0', {}, 'invalid_query'],
      ['?unnamed=1&unnamed=1', {}, 'invalid_query'],
      ['?lasteventid=a', {}, 'invalid_query'],
      ['?lastEventId=abc', {}, 'invalid_cursor'],
      ['', { 'Last-Event-ID': 'abc' }, 'invalid_cursor'],
      ['', { 'Last-Event-ID': 'measurement:wheel-1:v1:measurement.speed_record:1' }, 'invalid_cursor'],
    ] as const) {
      const response = await server.get(`/v1/events/stream${query}`, headers);
      expect([response.status, await response.json()]).toEqual([400, { error }]);
      const head = await server.get(`/v1/events/stream${query}`, headers, 'HEAD');
      expect([head.status, await head.text()]).toEqual([400, '']);
    }
    const head = await server.get('/v1/events/stream', {}, 'HEAD');
    expect([head.status, await head.text()]).toEqual([200, '']);
    expect(head.headers.get('content-length')).toBeNull();
    for (let stream = 0; stream < streamsOfClientMax; stream++) {
      server.clock.advance(1_000); // Within the rate of requests.
      expect((await listen(server.base)).response.status).toBe(200);
    }
    server.clock.advance(1_000);
    const refused = await server.get('/v1/events/stream');
    await expectError(refused, 429, 'rate_limited');
    expect(refused.headers.get('retry-after')).toBe('15');
  });

  it('ends with its server', async () => {
    const { server } = await startServer();
    const client = await listen(server.base);
    server.close();
    await eventually(() => client.state.isEnded, 'the end of the stream');
  });
});

/** An event stream whose connections a test opens, blocks and aborts. Its reads of evicted events never end. */
function createWorld() {
  vi.useFakeTimers();
  onTestFinished(() => void vi.useRealTimers());
  const records = createRecords();
  const reads: AbortSignal[] = [];
  const state = { ended: 0, hasViews: true, isBlocked: false };
  const clock = manualClock();
  const written: string[] = [];
  let onAborted = () => undefined as unknown;
  const response = {
    onAborted: (handler: () => void) => {
      onAborted = handler;
    },
    onWritable: () => undefined,
    write: (text: string) => written.push(text) > 0 && !state.isBlocked,
    cork: (run: () => void) => run(),
    end: () => state.ended++,
  };
  const stream = createEventStream({
    readFeedMoment: createFeedNews({
      chain: createTestChainViews(),
      counters: { achievements: records.progress, shownThrough: () => foldedThrough },
      olderEvents: {
        ...noOlderEvents,
        after: async (_source, _query, signal) => {
          reads.push(signal);
          await once(signal, 'abort');
          return null;
        },
      },
    }),
    hasViews: () => state.hasViews,
    transport: selectTransport(),
    writer: { beginStream: () => response } as unknown as ResponseWriter,
    registry: new Registry(),
    turns: createTurns(clock),
    clock,
    onRefused: () => undefined,
  });
  onTestFinished(() => stream.close());
  /** Opens a stream. @returns what aborts its connection, or the code of the refusal. */
  const open = (client: AddressWords = [0, 0, 0xffff, 1], lastEventId = '', query = '') => {
    const request = parseStreamRequest(new URLSearchParams(query), lastEventId);
    if (request === null) throw new Error('the request is valid');
    return stream.open({ client } as unknown as Exchange, request)?.code ?? onAborted;
  };
  const abort = (opened: ReturnType<typeof open> | undefined) => {
    if (typeof opened !== 'function') throw new Error(`no stream is open: ${opened}`);
    opened();
  };
  return { stream, records, reads, state, clock, open, abort, takeWritten: () => written.splice(0).join('') };
}

/** ID of the position before the first event. */
const fromTheBeginning = encodeFeedPosition({ measurement: null, chain: null });

/** Lets time pass, and then turns of the event loop. */
const pass = async (ms: number) => {
  await vi.advanceTimersByTimeAsync(ms);
  await vi.advanceTimersByTimeAsync(1);
};

describe('a client of the event stream', () => {
  it('learns its own pause and its position, and then gets comments', async () => {
    const { open, takeWritten } = createWorld();
    open(undefined, '', 'unnamed=1');
    await pass(0);
    expect(takeWritten()).toMatch(
      new RegExp(`^retry: \\d+\\n:\\nid: ${fromTheBeginning}\\nevent: position\\ndata: {}\\n\\n:\\n$`),
    );
    await pass(heartbeatMs - 1_000);
    expect(takeWritten()).toBe('');
    await pass(heartbeatMs + 1_000);
    expect(takeWritten()).toBe(':\n'.repeat(2));
    for (let index = 1; index < streamsOfClientMax; index++) open();
    const pauses = [...takeWritten().matchAll(/retry: (\d+)/g)].map(([, ms]) => Number(ms));
    expect(new Set(pauses).size).toBe(streamsOfClientMax - 1);
    expect([Math.min(...pauses) >= 3_000, Math.max(...pauses) < 6_000]).toEqual([true, true]);
    // None of them is refused, even if all streams break at the same moment.
    const limiter = createRateLimiter();
    for (const ms of pauses.sort((one, other) => one - other))
      expect(limiter.take([0, 0, 0xffff, 1], 'publicHeavy', 1_000 + ms).waitSeconds).toBe(0);
  });

  it('is sent comments until state is restored, and ends if that takes long', async () => {
    const { state, records, clock, open, takeWritten } = createWorld();
    state.hasViews = false;
    records.add(1);
    open();
    open(undefined, fromTheBeginning);
    takeWritten();
    await pass(heartbeatMs);
    expect(takeWritten()).toBe(':\n'.repeat(2));
    state.hasViews = true;
    await pass(1_000);
    expect(takeWritten().match(/^event: \S+/gm)).toEqual(
      expect.arrayContaining(['event: position', 'event: measurement.speed_record']),
    );
    state.hasViews = false;
    clock.advance(stateWaitMaxMs);
    expect(open()).toBe('database_unavailable');
    await pass(1_000);
    expect([state.ended, vi.getTimerCount()]).toEqual([2, 0]);
    // It is never late again.
    state.hasViews = true;
    expect(open()).toBeTypeOf('function');
  });

  it.each<[string, number, (index: number) => AddressWords]>([
    ['of a client', streamsOfClientMax, () => [0, 0, 0xffff, 1]],
    ['of a site', streamsOfSiteMax, (index) => [0x20010db8, 0x00010000 + index, 0, 1]],
    ['in all', clientsMax, (index) => [0, 0, 0xffff, index]],
  ])('makes room for one other %s, even if its connection is aborted twice', (_, max, addressOf) => {
    const { open, abort } = createWorld();
    const opened = Array.from({ length: max }, (_, index) => open(addressOf(index)));
    expect(opened.map((one) => typeof one)).toEqual(Array(max).fill('function'));
    expect(open(addressOf(max))).toBe('rate_limited');
    for (let time = 0; time < 2; time++) abort(opened[0]);
    expect(open(addressOf(max))).toBeTypeOf('function');
    expect(open(addressOf(max + 1))).toBe('rate_limited');
  });

  it('leaves no timer and no read behind', async () => {
    const { records, reads, open, abort, takeWritten } = createWorld();
    records.add(9);
    records.evictOldest(0.9, 0);
    const openSome = (count: number) =>
      Array.from({ length: count }, () => open(undefined, fromTheBeginning));
    const opened = openSome(4);
    await pass(2_000);
    // Nothing is read twice.
    expect(reads).toHaveLength(4);
    opened.push(...openSome(8));
    await pass(1_000);
    // The others wait for one of them.
    expect(reads.map(({ aborted }) => aborted)).toEqual(Array(8).fill(false));
    takeWritten();
    for (const one of opened) abort(one);
    await pass(9);
    expect([reads.every(({ aborted }) => aborted), reads.length, vi.getTimerCount()]).toEqual([true, 8, 0]);
    expect(takeWritten()).toBe('');
  });

  it('without room is sent nothing more, and ends unless it reads', async () => {
    const { records, state, open, takeWritten } = createWorld();
    open();
    await pass(0);
    takeWritten();
    state.isBlocked = true;
    records.add(1);
    await pass(1_000);
    expect(takeWritten().match(/^event: /gm)).toHaveLength(1);
    records.add(200);
    await pass(readMs - 2_000);
    expect([takeWritten(), state.ended]).toEqual(['', 0]);
    await pass(heartbeatMs + 2_000);
    expect([takeWritten(), state.ended]).toEqual(['', 1]);
  });
});

it('a turn of the event loop serves a bounded number of clients and events, and each client gets a turn', async () => {
  const { records, open, takeWritten } = createWorld();
  vi.useRealTimers();
  records.add(250);
  for (let index = 0; index < 60; index++) open([0, 0, 0xffff, index], index === 0 ? fromTheBeginning : '');
  takeWritten();
  const turns: number[] = [];
  for (let turn = 0; turn < 40; turn++) {
    await nextTurn();
    turns.push(takeWritten().match(/^event: /gm)?.length ?? 0);
  }
  expect(Math.max(...turns)).toBeLessThan(200);
  expect(turns.reduce((sum, one) => sum + one)).toBe(59 + (records.progress()?.events.size ?? 0));
});
