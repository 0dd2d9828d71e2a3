import { once } from 'node:events';
import { connect } from 'node:net';
import { setTimeout as wait } from 'node:timers/promises';
import { describe, expect, it, onTestFinished } from 'vitest';
import { measurementEventRow } from '../../actors/feed/eventRows.ts';
import { type MeasurementProgress, withAchievements } from '../../actors/feed/measurementEvents.ts';
import type { EventRow } from '../../actors/storedRows.ts';
import type { OlderEvents } from '../../actors/views.ts';
import { feedEvent } from '../../http/responses/events.ts';
import { StorageUnavailable } from '../../storage/storageUnavailable.ts';
import { acceptedReading } from '../support/acceptedReading.ts';
import { eventually } from '../support/childProcess.ts';
import { foldChain } from '../support/foldedChain.ts';
import { startPublicServer } from '../support/publicServer.ts';
import { createRandomEconomy } from '../support/randomEconomy.ts';
import { startEconomy } from '../support/testEconomy.ts';

/** Speeds that are each a record above the one before. */
const recordStep = 56;

/** Progress that a test drives: each record is an event. */
function createRecords() {
  let progress: MeasurementProgress | null = null;
  let made = 0;
  const givenUp: EventRow[] = [];
  let failures = 0;
  const olderEvents: OlderEvents = {
    read: async ({ place, limit }) => {
      await wait(20);
      if (failures-- > 0) throw new StorageUnavailable('away');
      return givenUp.filter(({ recordedAtMs }) => recordedAtMs > (place?.recordedAtMs ?? 0)).slice(0, limit);
    },
  };
  return {
    olderEvents,
    /** Moves all events but the newest to where older ones are, which does not answer at first. */
    giveUp(kept: number, failing: number) {
      if (progress === null) return;
      const gone = progress.events.skipLast(kept).toArray();
      givenUp.push(...gone.map((event) => measurementEventRow(event, event.position)));
      failures = failing;
      const throughMs = Math.max(...givenUp.map(({ recordedAtMs }) => recordedAtMs));
      progress = {
        ...progress,
        events: progress.events.takeLast(kept),
        givenUp: { count: givenUp.length, throughMs },
      };
    },
    get current() {
      return progress;
    },
    add(count: number) {
      for (let index = 0; index < count; index++) {
        made++;
        const observedAtMs = Date.UTC(2026, 0, 31, 12) + made * 1_000;
        const reading = acceptedReading({
          position: made,
          observedAtMs,
          speedMmPerSecond: made * recordStep,
        });
        progress = withAchievements(progress, reading, 0, 0);
      }
    },
  };
}

async function served(isLimited = false) {
  const economy = await startEconomy();
  const chain = await foldChain(economy);
  const random = createRandomEconomy(economy, 5);
  await random.open();
  for (let step = 0; step < 15; step++) await random.step();
  await chain.fold();
  const records = createRecords();
  records.add(3);
  const server = await startPublicServer({
    chain: chain.views,
    progress: () => records.current,
    olderEvents: records.olderEvents,
    rateLimits: isLimited,
  });
  return { chain, random, records, server };
}

interface Message {
  readonly id: string;
  readonly event: string;
  readonly data: { readonly id: string; readonly payload: Record<string, string> };
}

/** An event source: what it was told, until the test ends. */
async function listen(base: string, path = '/v1/events/stream', headers: Record<string, string> = {}) {
  const ending = new AbortController();
  onTestFinished(() => ending.abort());
  const response = await fetch(`${base}${path}`, { headers, signal: ending.signal });
  const messages: Message[] = [];
  const state = { text: '', heartbeats: 0, isEnded: false };
  void (async () => {
    const decoder = new TextDecoder();
    try {
      for await (const chunk of response.body as unknown as AsyncIterable<Uint8Array>) {
        state.text += decoder.decode(chunk, { stream: true });
        for (let end = state.text.indexOf('\n\n'); end >= 0; end = state.text.indexOf('\n\n')) {
          const block = state.text.slice(0, end);
          state.text = state.text.slice(end + 2);
          if (block === ':') state.heartbeats++;
          const lines = new Map(block.split('\n').map((line) => line.split(/: (.*)/s) as [string, string]));
          if (lines.has('data'))
            messages.push({
              id: lines.get('id') as string,
              event: lines.get('event') as string,
              data: JSON.parse(lines.get('data') as string),
            });
        }
      }
    } catch {
      // Aborted with the test.
    }
    state.isEnded = true;
  })();
  return { response, messages, state, end: () => ending.abort() };
}

describe('the event stream', () => {
  it('tells each event once, as the pages show it, when it becomes visible', async () => {
    const { chain, random, records, server } = await served();
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
    await wait(1_500);
    const shown = new Map((await page('')).events.map((event) => [event.id, event]));
    for (const { event, data } of all.messages) {
      expect(feedEvent.parse(data)).toEqual(data);
      expect(shown.get(data.id)).toEqual(data);
      expect(shown.get(data.id)?.type).toBe(event);
    }
    const ids = all.messages.map(({ data }) => data.id);
    expect(new Set(ids).size).toBe(ids.length);
    expect(players.messages.length).toBeLessThanOrEqual(await mints());
    expect(players.messages.map(({ data }) => data.id)).toEqual(
      all.messages.filter(({ event }) => event.startsWith('player.')).map(({ data }) => data.id),
    );
  });

  it.each([
    ['the last event that a client has seen', () => undefined, 0],
    [
      'an event that memory holds no more, once ClickHouse answers',
      (records: ReturnType<typeof createRecords>) => records.giveUp(20, 2),
      2,
    ],
  ])('goes on behind %s', async (_, meanwhile, failedReads) => {
    const { records, server } = await served();
    const first = await listen(server.base, '/v1/events/stream?category=measurement');
    records.add(1);
    await eventually(() => first.messages.length === 1, 'a record');
    const [seen] = first.messages;
    first.end();
    records.add(350);
    meanwhile(records);
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

  it('keeps a quiet connection open with heartbeats', async () => {
    const { records, server } = await served();
    const client = await listen(server.base);
    await eventually(() => client.state.heartbeats >= 2, 'two heartbeats', 40_000);
    expect(client.state.isEnded).toBe(false);
    records.add(1);
    await eventually(() => client.messages.length === 1, 'an event after them');
  });

  it('ends the stream of a client that does not read, and of no other', async () => {
    const { records, server } = await served();
    const reader = await listen(server.base);
    const sleeper = connect(server.port, '127.0.0.1');
    onTestFinished(() => {
      sleeper.destroy();
    });
    await once(sleeper, 'connect');
    sleeper.write('GET /v1/events/stream HTTP/1.1\r\nHost: test\r\n\r\n');
    await once(sleeper, 'readable');
    const clients = async () =>
      Number(/miner_event_stream_clients (\d+)/.exec(await server.registry.metrics())?.[1]);
    await eventually(async () => (await clients()) === 2, 'two clients');
    let total = 0;
    await eventually(
      async () => {
        records.add(1_000);
        total += 1_000;
        await wait(1_000);
        return (await clients()) === 1;
      },
      'the end of the stream that nobody reads',
      60_000,
    );
    expect(await server.registry.metrics()).toContain('miner_event_stream_slow_clients_total 1');
    const told = () => reader.messages.filter(({ event }) => event === 'measurement.speed_record').length;
    await eventually(() => told() === total, 'all events for the one that reads');
  });

  it('is refused for what is no cursor or category, and to a ninth client of an address', async () => {
    const { server } = await served(true);
    for (const [query, headers, error] of [
      ['?category=none', {}, 'invalid_query'],
      ['?limit=3', {}, 'invalid_query'],
      ['', { 'Last-Event-ID': 'abc' }, 'invalid_cursor'],
    ] as const) {
      const response = await server.get(`/v1/events/stream${query}`, headers);
      expect([response.status, await response.json()]).toEqual([400, { error }]);
    }
    const head = await server.get('/v1/events/stream', {}, 'HEAD');
    expect([head.status, await head.text()]).toEqual([200, '']);
    for (let client = 0; client < 8; client++) expect((await listen(server.base)).response.status).toBe(200);
    const ninth = await server.get('/v1/events/stream');
    expect([ninth.status, await ninth.json()]).toEqual([429, { error: 'rate_limited' }]);
    expect(Number(ninth.headers.get('retry-after'))).toBeGreaterThan(0);
  });
});
