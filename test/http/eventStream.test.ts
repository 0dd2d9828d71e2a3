import { EventEmitter, once } from 'node:events';
import { describe, expect, it } from 'vitest';
import { compareArrivals } from '../../actors/events/arrival.ts';
import { toMeasurementRow } from '../../actors/feed/eventRows.ts';
import type { OlderEvents } from '../../actors/feed/olderEvents.ts';
import { RecordsUnavailable } from '../../actors/older/recordsUnavailable.ts';
import { feedEvent } from '../../http/responses/feed/feedEvent.ts';
import { streamsOfClientMax } from '../../http/server/events/eventStream.ts';
import type { PublicServerSettings } from '../../http/server/publicServer.ts';
import { minted, recordStep } from '../support/chain/feedEvents.ts';
import { rewardsClaimed } from '../support/chain/feedOfEvents.ts';
import { listen, type Message } from '../support/http/eventSource.ts';
import { expectError } from '../support/http/expectError.ts';
import { createGrowingFeed } from '../support/http/growingFeed.ts';
import { makeEventLoopLate } from '../support/http/lateEventLoop.ts';
import { startPublicServer } from '../support/http/publicServer.ts';
import { eventually } from '../support/processes/childProcess.ts';
import { createSpeedRecords } from '../support/readings/speedRecords.ts';
import { noOlderEvents } from '../support/storage/noOlderEvents.ts';

/** Progress that a test drives: each record is an event. */
function createRecords() {
  const records = createSpeedRecords();
  let rows: ReturnType<typeof toMeasurementRow>[] = [];
  let failures = 0;
  const state = { isSlow: false };
  const olderEvents: OlderEvents = {
    ...noOlderEvents,
    find: async (_window, id, signal) => {
      if (state.isSlow) {
        await once(signal, 'abort');
        throw new RecordsUnavailable('aborted');
      }
      return rows.find((row) => row.id === id) ?? null;
    },
    after: async (_window, { categories, arrival, limit }) => {
      if (failures-- > 0) throw new RecordsUnavailable('unavailable');
      return rows
        .filter((row) => categories.some((one) => one === row.category) && compareArrivals(row, arrival) > 0)
        .slice(0, limit);
    },
  };
  return Object.assign(state, {
    ...records,
    olderEvents,
    /** Moves all events but the newest to the older ones, whose reads fail at first. */
    evictOldest(retainedCount: number, failing: number) {
      const progress = records.progress();
      if (progress === null) throw new Error('there is no record');
      const gone = progress.events.skipLast(retainedCount).toArray();
      rows = gone.map((event) => toMeasurementRow(event, { storedBy: 1 }));
      failures = failing;
      records.replace({
        ...progress,
        events: progress.events.takeLast(retainedCount),
        evicted: {
          through: gone.at(-1) ?? progress.evicted.through,
          throughMs: Math.max(...gone.map(({ receivedAtMs }) => receivedAtMs)),
          atPosition: records.count(),
        },
      });
    },
  });
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
    .filter(({ event }) => event === 'measurement.speed_record')
    .map(({ data }) => Number(data.payload.recordMmPerSecond) / recordStep);
const from = (first: number, last: number) =>
  Array.from({ length: last - first + 1 }, (_unused, index) => first + index);

describe('the event stream', () => {
  it('sends each event once, as the pages show it, when it becomes visible', async () => {
    const { chain, records, server } = await startServer();
    const all = await listen(server.base);
    const players = await listen(server.base, '/v1/events/stream?category=players');
    expect(all.response.headers.get('content-type')).toContain('text/event-stream');
    expect(all.response.headers.get('cache-control')).toBe('no-store');
    records.add(2);
    await eventually(() => listRecords(all.messages).length === 2, 'two records');
    for (const details of [minted, rewardsClaimed]) chain.add(details);
    await eventually(() => players.messages.length === 2, 'events of players');
    records.add(1);
    await eventually(() => listRecords(all.messages).length === 3, 'the last record');
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
  });

  it('sends the same events without names to those who ask so', async () => {
    const { records, server } = await startServer();
    const named = await listen(server.base, measurements);
    const unnamed = await listen(server.base, '/v1/events/stream?unnamed=1&category=measurement');
    records.add(2);
    await eventually(() => named.messages.length === 2 && unnamed.messages.length === 2, 'two records');
    expect(unnamed.messages).toEqual(named.messages.map((message) => ({ ...message, event: 'message' })));
    const [first] = named.messages as [Message];
    const resumed = await listen(server.base, '/v1/events/stream?unnamed=1', { 'Last-Event-ID': first.id });
    await eventually(() => resumed.messages.length === 1, 'the second one');
    expect(resumed.messages).toEqual(unnamed.messages.slice(1));
  });

  it.each([
    ['the last event that a client has seen', ({ id }: Message) => id, 0],
    ['the ID that the event has in the feed', ({ data }: Message) => data.id, 0],
    ['an event that memory holds no more, once ClickHouse answers', ({ id }: Message) => id, 2],
  ])('resumes after %s', async (_, toLastId, failedReads) => {
    const { records, server } = await startServer();
    const first = await listen(server.base, measurements);
    records.add(1);
    await eventually(() => first.messages.length === 1, 'a record');
    first.end();
    records.add(350);
    if (failedReads > 0) records.evictOldest(20, failedReads);
    const again = await listen(server.base, measurements, {
      'Last-Event-ID': toLastId(first.messages[0] as Message),
    });
    await eventually(() => listRecords(again.messages).length === 350, '350 missed records');
    records.add(1);
    await eventually(() => listRecords(again.messages).length === 351, 'the next one');
    expect(listRecords(again.messages)).toEqual(from(5, 355));
    again.end();
    const metrics = () => server.registry.metrics();
    expect(await metrics()).toContain(`miner_event_stream_failed_reads_total ${failedReads}`);
    await eventually(
      async () => (await metrics()).includes('miner_event_stream_clients 0'),
      'the end of both',
    );
  });

  it('lets resuming clients wait while the event loop is late', async () => {
    const { records, server } = await startServer({ rateLimits: true });
    const live = await listen(server.base, measurements);
    records.add(4);
    await eventually(() => listRecords(live.messages).length === 4, 'four records');
    const { id, data } = live.messages[0] as Message;
    const end = makeEventLoopLate(server);
    await eventually(
      async () => (await server.get('/v1/public/installations/wheel-1/observations')).status === 503,
      'expensive routes refuse',
    );
    const again = await listen(server.base, undefined, { 'Last-Event-ID': id });
    const named = await listen(server.base, `${measurements}&lastEventId=${encodeURIComponent(data.id)}`);
    expect([again.response.status, named.response.status]).toEqual([200, 200]);
    records.add(1);
    await eventually(() => listRecords(live.messages).length === 5, 'the fifth one');
    expect([again.messages, named.messages]).toEqual([[], []]);
    end();
    for (const { messages } of [again, named]) {
      await eventually(() => {
        server.clock.advance(20);
        return listRecords(messages).length === 4;
      }, 'what was missed');
      expect(listRecords(messages)).toEqual(from(5, 8));
    }
  });

  it('loses nothing that is evicted before a listener has received it', async () => {
    const { records, server } = await startServer();
    const client = await listen(server.base, measurements);
    const other = await listen(server.base, '/v1/events/stream?category=protocol');
    await eventually(() => client.state.lastId !== '' && other.state.lastId !== '', 'two clients');
    records.add(450);
    records.evictOldest(10, 1);
    await eventually(() => listRecords(client.messages).length === 450, 'all records');
    records.add(1);
    await eventually(() => listRecords(client.messages).length === 451, 'the next one');
    expect(listRecords(client.messages)).toEqual(from(4, 454));
    expect(other.messages).toEqual([]);
  });

  it('ends the stream of a client that does not read, and of no other', async () => {
    const { records, server } = await startServer();
    const reader = await listen(server.base);
    const reading = new EventEmitter();
    const mayRead = once(reading, 'begin').then(() => undefined);
    const sleeper = await listen(server.base, '/v1/events/stream', {}, mayRead);
    const clients = async () =>
      Number(/miner_event_stream_clients (\d+)/.exec(await server.registry.metrics())?.[1]);
    await eventually(async () => (await clients()) === 2, 'two clients');
    const isNewestSent = () => listRecords(reader.messages.slice(-2)).includes(records.count());
    await eventually(async () => {
      records.add(1_000);
      await eventually(isNewestSent, 'the events for the one that reads');
      return (await clients()) === 1;
    }, 'the end of the stream that nobody reads');
    expect(await server.registry.metrics()).toContain('miner_event_stream_slow_clients_total 1');
    // Until then it was sent everything in order.
    reading.emit('begin');
    await eventually(() => sleeper.state.isEnded, 'the end of what was sent to it');
    expect(sleeper.state.failure).toBeNull();
    expect(sleeper.messages.length).toBeGreaterThan(0);
    expect(sleeper.messages).toEqual(reader.messages.slice(0, sleeper.messages.length));
  });

  it.each([
    ['in the query', (id: string) => `lastEventId=${encodeURIComponent(id)}`, {}],
    ['of the header, if the query has one too', () => 'lastEventId=abc', { isHeader: true }],
    ['that comes last in the query', (id: string) => `lastEventId=abc&lastEventId=${id}`, {}],
  ])('resumes after the ID %s', async (_, format, { isHeader = false }: { isHeader?: boolean }) => {
    const { records, server } = await startServer();
    const first = await listen(server.base, measurements);
    records.add(3);
    await eventually(() => first.messages.length === 3, 'three records');
    const { id } = first.messages[0] as Message;
    const headers = isHeader ? { 'Last-Event-ID': id } : {};
    const again = await listen(
      server.base,
      `${measurements}&${format(id)}`,
      headers as Record<string, string>,
    );
    await eventually(() => listRecords(again.messages).length === 2, 'two missed records');
    expect(listRecords(again.messages)).toEqual([5, 6]);
  });

  it('begins after an event that a query names, once state is restored', async () => {
    const { records, server } = await startServer();
    const first = await listen(server.base, measurements);
    records.add(2);
    await eventually(() => first.messages.length === 2, 'two records');
    const ids = first.messages.map(({ data }) => encodeURIComponent(data.id));
    server.hasViews = false;
    const open = (id: string) => listen(server.base, `${measurements}&lastEventId=${id}`);
    const [known, unknown] = [await open(ids[0] ?? ''), await open('measurement:unknown')];
    expect([known.response.status, unknown.response.status]).toEqual([200, 200]);
    server.hasViews = true;
    await eventually(() => listRecords(known.messages).length === 1, 'the second record');
    await eventually(() => unknown.state.isEnded, 'the end of the other stream');
    expect([listRecords(known.messages), unknown.messages, unknown.state.failure]).toEqual([[5], [], null]);
  });

  it('is open while ClickHouse searches for a named event', async () => {
    const { records, server } = await startServer({ readTimeoutMs: 200 });
    const first = await listen(server.base, measurements);
    records.add(30);
    await eventually(() => listRecords(first.messages).length === 30, 'the records');
    records.evictOldest(10, 0);
    records.isSlow = true;
    const { id } = (first.messages[0] as Message).data;
    const again = await listen(server.base, `${measurements}&lastEventId=${encodeURIComponent(id)}`);
    expect(again.response.status).toBe(200);
    records.isSlow = false;
    await eventually(() => listRecords(again.messages).length === 29, 'what followed it');
    expect(listRecords(again.messages)).toEqual(from(5, 33));
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
      ['', { 'Last-Event-ID': 'chain:31337:0x:0x:1:player.miner_minted' }, 'invalid_cursor'],
    ] as const) {
      const response = await server.get(`/v1/events/stream${query}`, headers);
      expect([response.status, await response.json()]).toEqual([400, { error }]);
      const head = await server.get(`/v1/events/stream${query}`, headers, 'HEAD');
      expect([head.status, await head.text()]).toEqual([400, '']);
    }
    const head = await server.get('/v1/events/stream', {}, 'HEAD');
    expect([head.status, await head.text()]).toEqual([200, '']);
    expect(Object.fromEntries(head.headers)).toMatchObject({
      'content-type': 'text/event-stream; charset=utf-8',
      'cache-control': 'no-store',
    });
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
});
