import { EventEmitter, once } from 'node:events';
import type { Address } from 'viem';
import { describe, expect, it, onTestFinished } from 'vitest';
import { confirmations } from '../../actors/chain/spans/confirmations.ts';
import { toMeasurementRow } from '../../actors/feed/eventRows.ts';
import type { OlderEvents } from '../../actors/feed/olderEvents.ts';
import { feedEvent } from '../../http/responses/feed/feedEvent.ts';
import { streamsOfClientMax } from '../../http/server/events/eventStream.ts';
import type { PublicServerSettings } from '../../http/server/publicServer.ts';
import { openDatabase } from '../../storage/database.ts';
import { createReaderEventsStored } from '../../storage/eventsStored.ts';
import { migrate } from '../../storage/migrations.ts';
import { StorageUnavailable } from '../../storage/storageUnavailable.ts';
import { createStoredEvents } from '../../storage/storedEvents.ts';
import { startChainWithHistory } from '../support/chain/chainWithHistory.ts';
import { recordStep } from '../support/chain/feedEvents.ts';
import { reorganize } from '../support/chain/reorganize.ts';
import { listen, type Message } from '../support/http/eventSource.ts';
import { expectError } from '../support/http/expectError.ts';
import { makeEventLoopLate } from '../support/http/lateEventLoop.ts';
import { startPublicServer } from '../support/http/publicServer.ts';
import { readFeed } from '../support/http/readFeed.ts';
import { eventually } from '../support/processes/childProcess.ts';
import { shareInFile } from '../support/processes/lifetime.ts';
import { temporaryDirectory } from '../support/processes/temporaryDirectory.ts';
import { createSpeedRecords } from '../support/readings/speedRecords.ts';
import { silentLogger } from '../support/silentLogger.ts';
import { storeRows } from '../support/storage/storeRows.ts';

/** Progress that a test drives: each record is an event. */
async function createRecords() {
  const database = openDatabase({ path: temporaryDirectory() });
  onTestFinished(() => database.close());
  const tables = await migrate(database, silentLogger);
  const stored = createStoredEvents({
    database,
    tables: () => tables,
    eventsStored: createReaderEventsStored(database, () => tables),
  });
  const records = createSpeedRecords();
  let failures = 0;
  const olderEvents: OlderEvents = {
    ...stored,
    after: async (...query) => {
      if (failures-- > 0) throw new StorageUnavailable('unavailable');
      return stored.after(...query);
    },
  };
  return {
    ...records,
    olderEvents,
    /** Moves all events but the newest to the older ones, whose reads fail at first. */
    async evictOldest(retainedCount: number, failing: number) {
      const progress = records.progress();
      if (progress === null) return;
      const { run, evicted } = progress;
      const gone = progress.events.skipLast(retainedCount).toArray();
      const through = gone.at(-1) ?? evicted.through;
      failures = failing;
      const throughMs = gone.reduce(
        (latest, { receivedAtMs }) => Math.max(latest, receivedAtMs),
        evicted.throughMs,
      );
      records.replace({
        ...progress,
        events: progress.events.takeLast(retainedCount),
        evicted: { through, throughMs, atPosition: records.count() },
      });
      const measurementEvents = gone.map((event) => toMeasurementRow(event, run));
      await storeRows(database, tables, { measurementEvents });
    },
  };
}

const startWorld = () => startChainWithHistory({ seed: 5, steps: 15 });

/** A chain with events; each test continues where the previous one stopped. */
const sharedWorld = shareInFile(startWorld);

async function startServer(settings: Partial<PublicServerSettings> = {}, world = sharedWorld) {
  const { economy, chain, random } = await world();
  const records = await createRecords();
  records.add(3);
  const server = await startPublicServer({
    chain: chain.views,
    progress: records.progress,
    olderEvents: records.olderEvents,
    ...settings,
  });
  return { economy, chain, random, records, server };
}

describe('the event stream', () => {
  it('sends each event once, as the pages show it, when it becomes visible', async () => {
    const { chain, random, records, server } = await startServer();
    const all = await listen(server.base);
    const players = await listen(server.base, '/v1/events/stream?category=players');
    expect(all.response.headers.get('content-type')).toContain('text/event-stream');
    expect(all.response.headers.get('cache-control')).toBe('no-store');
    records.add(2);
    await eventually(() => all.messages.length === 2, 'two records');
    for (let step = 0; step < 40; step++) await random.step();
    await chain.fold();
    type Page = { events: { id: string; type: string }[] };
    const page = async (query: string) =>
      (await (await server.get(`/v1/events?limit=100${query}`)).json()) as Page;
    const mints = async () => (await page('&category=players')).events.length;
    await eventually(() => players.messages.length > 3, 'events of players');
    // Events are sent in order: with this record, everything before it has been sent.
    records.add(1);
    await eventually(() => listRecords(all.messages).length === 3, 'the last record');
    const readAllPages = await eventually(async () => {
      const events = new Map((await page('')).events.map((event) => [event.id, event]));
      return all.messages.every(({ data }) => events.has(data.id)) && events;
    }, 'pages with every event that was sent');
    for (const { event, data } of all.messages) {
      expect(feedEvent.parse(data)).toEqual(data);
      expect(readAllPages.get(data.id)).toEqual(data);
      expect(readAllPages.get(data.id)?.type).toBe(event);
    }
    const ids = all.messages.map(({ data }) => data.id);
    expect(new Set(ids).size).toBe(ids.length);
    expect(players.messages.length).toBeLessThanOrEqual(await mints());
    expect(players.messages.map(({ data }) => data.id)).toEqual(
      all.messages.filter(({ event }) => event.startsWith('player.')).map(({ data }) => data.id),
    );
  });

  it('sends the same events without names to those who ask so', async () => {
    const { records, server } = await startServer();
    const named = await listen(server.base, '/v1/events/stream?category=measurement');
    const unnamed = await listen(server.base, '/v1/events/stream?unnamed=1&category=measurement');
    records.add(2);
    await eventually(() => named.messages.length === 2 && unnamed.messages.length === 2, 'two records');
    expect(named.messages.map(({ event }) => event)).toEqual(named.messages.map(({ data }) => data.type));
    expect(unnamed.messages).toEqual(named.messages.map((message) => ({ ...message, event: 'message' })));
    const resumed = await listen(server.base, '/v1/events/stream?unnamed=1', {
      'Last-Event-ID': named.messages[0]?.id as string,
    });
    await eventually(() => resumed.messages.length === 1, 'the second one');
    expect(resumed.messages).toEqual(unnamed.messages.slice(1));
  });

  it.each([
    ['the last event that a client has seen', async () => undefined, 0],
    [
      'an event that memory holds no more, once ClickHouse answers',
      (records: Awaited<ReturnType<typeof createRecords>>) => records.evictOldest(20, 2),
      2,
    ],
  ])('resumes after %s', async (_, meanwhile, failedReads) => {
    const { records, server } = await startServer();
    const first = await listen(server.base, '/v1/events/stream?category=measurement');
    records.add(1);
    await eventually(() => first.messages.length === 1, 'a record');
    const [seen] = first.messages;
    first.end();
    records.add(350);
    await meanwhile(records);
    const again = await listen(server.base, '/v1/events/stream?category=measurement', {
      'Last-Event-ID': seen?.id as string,
    });
    const values = () =>
      again.messages
        .filter(({ event }) => event === 'measurement.speed_record')
        .map(({ data }) => Number(data.payload.recordMmPerSecond));
    await eventually(() => values().length === 350, '350 missed records');
    records.add(1);
    await eventually(() => values().length === 351, 'the next one');
    expect(values()).toEqual(Array.from({ length: 351 }, (_unused, index) => (index + 5) * recordStep));
    expect(await server.registry.metrics()).toContain(`miner_event_stream_failed_reads_total ${failedReads}`);
  });

  const listRecords = (messages: readonly Message[]) =>
    messages
      .filter(({ event }) => event === 'measurement.speed_record')
      .map(({ data }) => Number(data.payload.recordMmPerSecond) / recordStep);
  const from = (first: number, last: number) =>
    Array.from({ length: last - first + 1 }, (_unused, index) => first + index);

  it('lets clients that resume wait while the event loop is late, and not those that listen', async () => {
    const { records, server } = await startServer({ rateLimits: true });
    const live = await listen(server.base, '/v1/events/stream?category=measurement');
    records.add(4);
    await eventually(() => listRecords(live.messages).length === 4, 'four records');
    const { id } = live.messages[0] as Message;
    const end = makeEventLoopLate(server);
    await eventually(
      async () => (await server.get('/v1/public/installations/wheel-1/observations')).status === 503,
      'expensive routes refuse',
    );
    const again = await listen(server.base, undefined, { 'Last-Event-ID': id });
    expect(again.response.status).toBe(200);
    records.add(1);
    await eventually(() => listRecords(live.messages).length === 5, 'the fifth one');
    expect(again.messages).toEqual([]);
    end();
    await eventually(() => {
      server.clock.advance(20);
      return listRecords(again.messages).length === 4;
    }, 'what was missed');
    expect(listRecords(again.messages)).toEqual(from(5, 8));
  });

  it('sends its position when it opens, so that a drop before the first event loses nothing', async () => {
    const { records, server } = await startServer();
    const first = await listen(server.base, '/v1/events/stream?category=measurement');
    await eventually(() => first.state.lastId !== '', 'an ID');
    expect(first.messages).toEqual([]);
    first.end();
    records.add(2);
    const again = await listen(server.base, undefined, { 'Last-Event-ID': first.state.lastId });
    await eventually(() => again.state.lastId !== '', 'an ID');
    await eventually(() => listRecords(again.messages).length === 2, 'two missed records');
    again.end();
    const third = await listen(server.base, undefined, { 'Last-Event-ID': again.state.lastId });
    records.add(1);
    await eventually(() => listRecords(third.messages).length === 1, 'the next one');
    expect([...listRecords(again.messages), ...listRecords(third.messages)]).toEqual([4, 5, 6]);
  });

  it('resumes after an event of the feed by its ID', async () => {
    const { chain, random, records, server } = await startServer();
    for (let step = 0; step < 40; step++) await random.step();
    await chain.fold();
    records.add(3);
    type Page = { events: { id: string; type: string; source: { kind: string } }[] };
    const { events } = (await (await server.get('/v1/events?limit=100')).json()) as Page;
    const record = events.find(({ id }) => id.endsWith(`:measurement.speed_record:${3 * recordStep}`));
    const chainEvent = events.find(({ source }) => source.kind === 'chain');
    if (record === undefined || chainEvent === undefined) throw new Error('no such event');
    const resume = (id: string) => listen(server.base, undefined, { 'Last-Event-ID': id });
    const client = await resume(record.id);
    expect(client.response.status).toBe(200);
    await eventually(() => listRecords(client.messages).length === 3, 'three records');
    expect(listRecords(client.messages)).toEqual([4, 5, 6]);
    client.end();
    // The newest of the chain: of the other source nothing is lost.
    const ofChain = await resume(chainEvent.id);
    await eventually(() => ofChain.state.lastId !== '', 'an ID');
    records.add(1);
    await eventually(() => listRecords(ofChain.messages).includes(7), 'the next one');
    expect(ofChain.messages.filter(({ event }) => !event.startsWith('measurement.'))).toEqual([]);
    ofChain.end();
    await records.evictOldest(1, 0);
    const old = await resume(record.id);
    await eventually(() => listRecords(old.messages).length === 4, 'records from ClickHouse');
    expect(listRecords(old.messages)).toEqual([4, 5, 6, 7]);
    old.end();
    await eventually(
      async () => (await server.registry.metrics()).includes('miner_event_stream_clients 0'),
      'the end of every stream',
    );
  });

  it('loses nothing that is evicted before a listener has received it', async () => {
    const { records, server } = await startServer();
    const client = await listen(server.base, '/v1/events/stream?category=measurement');
    const other = await listen(server.base, '/v1/events/stream?category=protocol');
    await eventually(() => client.state.lastId !== '' && other.state.lastId !== '', 'two clients');
    records.add(450);
    await records.evictOldest(10, 1);
    await eventually(() => listRecords(client.messages).length === 450, 'all records');
    records.add(1);
    await eventually(() => listRecords(client.messages).length === 451, 'the next one');
    expect(listRecords(client.messages)).toEqual(from(4, 454));
    expect(other.messages).toEqual([]);
  });

  it('sends what a reorganization of safe blocks puts in their place, to connected clients and to those that resume', async () => {
    const { economy, chain, random, server } = await startServer({}, startWorld);
    const live = await listen(server.base, '/v1/events/stream?category=players');
    await eventually(() => live.state.lastId !== '', 'an ID');
    for (let step = 0; step < 60; step++) await random.step();
    await chain.fold();
    const readAllPages = async () => {
      const events = await readFeed(async (path) => (await server.get(path)).json(), 'players');
      return events.map(({ id, source }) => `${id} in ${source.blockHash}`);
    };
    const listEvents = (messages: readonly Message[]) =>
      messages.map(({ data }) => `${data.id} in ${data.source.blockHash}`);
    const before = await readAllPages();
    await eventually(() => listEvents(live.messages).at(-1) === before[0], 'the newest event');
    const [deliveredBefore, { id }] = [live.messages.length, live.messages.at(-1) as Message];
    await reorganize(economy, 20, random.step);
    for (let step = 0; step < 40; step++) await random.step();
    await chain.fold();
    const after = await readAllPages();
    const undone = before.filter((event) => !after.includes(event));
    expect(undone.length).toBeGreaterThan(0);
    const fresh = after.filter((event) => !before.includes(event)).reverse();
    await eventually(
      () => listEvents(live.messages).at(-1) === after[0],
      'the newest event of the other branch',
    );
    expect(listEvents(live.messages.slice(deliveredBefore))).toEqual(fresh);
    const again = await listen(server.base, '/v1/events/stream?category=players', { 'Last-Event-ID': id });
    await eventually(() => listEvents(again.messages).at(-1) === after[0], 'the newest event, after a drop');
    expect(listEvents(again.messages)).toEqual(fresh);
  });

  it('sends an event again whose transaction a reorganization of safe blocks has put into another block, with its ID', async () => {
    const { economy, chain, server } = await startServer({}, startWorld);
    const { actions, client, mine, owners, resetClock } = economy;
    const path = '/v1/events/stream?category=players';
    const blocksUntilSafe = Number(confirmations);
    const mineUntilSafe = async () => {
      for (let block = 0; block < blocksUntilSafe; block++) await mine();
      await chain.fold();
    };
    const mintSafely = async () => {
      await actions.mint(owners[0] as Address, 1n, 1_000n);
      await mineUntilSafe();
    };
    const readEvents = async () => {
      const page = await (await server.get('/v1/events?category=players&limit=100')).json();
      return (page as { events: Message['data'][] }).events.toReversed();
    };
    await mineUntilSafe();
    const before = (await readEvents()).length;
    const live = await listen(server.base, path);
    await eventually(() => live.state.lastId !== '', 'an ID');
    await mintSafely();
    const minted = (await readEvents()).slice(before);
    await eventually(() => live.messages.length === minted.length, 'the events of the first block');
    await client.request({ method: 'anvil_rollback', params: [blocksUntilSafe] } as never);
    await client.request({ method: 'anvil_dropAllTransactions' } as never);
    await resetClock();
    // The sender has the nonce again that it had, so the transaction is the same.
    await mine();
    await mintSafely();
    const mintedAgain = (await readEvents()).slice(before);
    expect(mintedAgain.map(({ id }) => id)).toEqual(minted.map(({ id }) => id));
    await eventually(() => live.messages.length === minted.length * 2, 'the events of both blocks');
    expect(live.messages.map(({ data }) => data)).toEqual([...minted, ...mintedAgain]);
    const blocks = live.messages.map(({ data }) => data.source.blockHash);
    expect(new Set(blocks).size).toBe(2);
    // A client that names the event by its ID has seen it in its newest block.
    const resumed = await listen(server.base, path, { 'Last-Event-ID': String(minted.at(-1)?.id) });
    await eventually(() => resumed.state.lastId !== '', 'an ID');
    await mintSafely();
    const next = (await readEvents()).slice(before + minted.length);
    await eventually(() => resumed.messages.length === next.length, 'the next events');
    expect(resumed.messages.map(({ data }) => data)).toEqual(next);
  });

  it('keeps a quiet connection open with heartbeats', async () => {
    const { records, server } = await startServer({ heartbeatMs: 200 });
    const client = await listen(server.base);
    await eventually(() => client.state.heartbeats >= 2, 'two heartbeats');
    expect(client.state.isEnded).toBe(false);
    records.add(1);
    await eventually(() => client.messages.length === 1, 'an event after them');
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
    let total = 0;
    const countDelivered = () =>
      reader.messages.filter(({ event }) => event === 'measurement.speed_record').length;
    await eventually(async () => {
      records.add(1_000);
      total += 1_000;
      await eventually(() => countDelivered() === total, 'the events for the one that reads');
      return (await clients()) === 1;
    }, 'the end of the stream that nobody reads');
    expect(await server.registry.metrics()).toContain('miner_event_stream_slow_clients_total 1');
    await eventually(() => countDelivered() === total, 'all events for the one that reads');
    // Until then it was sent everything in order.
    reading.emit('begin');
    await eventually(() => sleeper.state.isEnded, 'the end of what was sent to it');
    expect(sleeper.state.failure).toBeNull();
    expect(sleeper.messages.length).toBeGreaterThan(0);
    expect(sleeper.messages).toEqual(reader.messages.slice(0, sleeper.messages.length));
  });

  it('is refused for what is no cursor or category, and beyond the streams that a client may have', async () => {
    const { server } = await startServer({ rateLimits: true });
    for (const [query, headers, error] of [
      ['?category=none', {}, 'invalid_query'],
      ['?limit=3', {}, 'invalid_query'],
      ['?unnamed=0', {}, 'invalid_query'],
      ['?unnamed=1&unnamed=1', {}, 'invalid_query'],
      ['', { 'Last-Event-ID': 'abc' }, 'invalid_cursor'],
      [
        '',
        { 'Last-Event-ID': 'measurement:wheel-1:measurement-v1:measurement.speed_record:1' },
        'invalid_cursor',
      ],
      ['', { 'Last-Event-ID': 'chain:31337:0x:0x:1:player.miner_minted' }, 'invalid_cursor'],
    ] as const) {
      const response = await server.get(`/v1/events/stream${query}`, headers);
      expect([response.status, await response.json()]).toEqual([400, { error }]);
    }
    const head = await server.get('/v1/events/stream', {}, 'HEAD');
    expect([head.status, await head.text(), Object.fromEntries(head.headers)]).toMatchObject([
      200,
      '',
      {
        'content-type': 'text/event-stream; charset=utf-8',
        'cache-control': 'no-store',
        'content-length': '0',
      },
    ]);
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
