import fc from 'fast-check';
import { expect, it } from 'vitest';
import { compareArrivals } from '../../../actors/events/arrival.ts';
import type { ChainFeedEvent, MeasurementEvent } from '../../../actors/events/eventSchemas.ts';
import { toChainRow, toMeasurementRow } from '../../../actors/feed/eventRows.ts';
import {
  type FeedCategory,
  type FeedItem,
  type FeedSource,
  feedCategories,
  feedSources,
  isOfCategory,
  toChainItem,
  toMeasurementItem,
} from '../../../actors/feed/feedItem.ts';
import {
  decodeFeedPosition,
  encodeFeedPosition,
  type FeedPosition,
  type SourcePlace,
} from '../../../actors/feed/feedPosition.ts';
import type { FoldedMessage } from '../../../actors/folds/foldedMessage.ts';
import type { EconomyView } from '../../../actors/views/chain/coreViews.ts';
import { createFeedNews } from '../../../actors/views/feed/feedNews.ts';
import type { MeasurementProgress } from '../../../actors/wheel/measurementEvents.ts';
import { foldedThrough } from '../../support/chain/economyState.ts';
import {
  buildChainEvents,
  buildMeasurementEvents,
  feedChainId as chainId,
  createWindow,
  evictShare,
  minted,
} from '../../support/chain/feedEvents.ts';
import { buildTransactionHash } from '../../support/chain/hashes.ts';
import { createTestChainViews } from '../../support/chain/testChainViews.ts';
import { runs } from '../../support/propertyRuns.ts';
import { noOlderEvents, olderAmong } from '../../support/storage/noOlderRows.ts';

const neverAborted = new AbortController().signal;

type AnyEvent = ChainFeedEvent | MeasurementEvent;

/** A message, and what folding it does to the events of its source. */
interface Message {
  readonly seq: number;
  readonly storedAtMs: number;
  /** Numbers of its events, which are theirs alone. */
  readonly added: readonly number[];
  /** Number of the newest events that a reorganization takes away. */
  readonly dropped: number;
}

interface Stream {
  createdMs: number;
  messages: readonly Message[];
}

const [chainEvent] = buildChainEvents([{ gapMs: 0, blocks: [[[false]]] }]);
const [measurementEvent] = buildMeasurementEvents([{ receivedAtMs: 0, distances: 0 }]);

function buildEvent(source: FeedSource, number: number, message: Message, ordinal: number): AnyEvent {
  const { seq: position, storedAtMs } = message;
  const at = { position, ordinal };
  if (source === 'measurement') {
    const achievement = { type: 'measurement.speed_record', previous: null, observed: number } as const;
    // The gateway received it up to days before, as from an outbox.
    const receivedAtMs = storedAtMs - (number % 5) * 100_000_000;
    return {
      ...(measurementEvent as MeasurementEvent),
      ...at,
      achievement,
      receivedAtMs,
      arrivedAtMs: storedAtMs,
    };
  }
  const { details, ...event } = chainEvent as ChainFeedEvent;
  return {
    ...event,
    ...at,
    details: number % 2 === 0 ? details : minted,
    source: { ...event.source, transactionHash: buildTransactionHash(number) },
    recordedAtMs: storedAtMs,
  };
}

/** Events of a stream that no later message has undone, with their numbers: the plain second answer. */
function foldAll(source: FeedSource, { messages }: Stream) {
  const shown: { readonly number: number; readonly event: AnyEvent }[] = [];
  for (const message of messages) {
    shown.splice(shown.length - message.dropped);
    for (const [ordinal, number] of message.added.entries())
      shown.push({ number, event: buildEvent(source, number, message, ordinal) });
  }
  return shown;
}

const toItem = (event: AnyEvent): FeedItem =>
  event.family === 'chain' ? toChainItem(chainId, event) : toMeasurementItem(event);

/** A process that shows what it has folded of both streams, some of it evicted. */
function createReplica() {
  const folded = {
    measurement: { events: [] as AnyEvent[], through: null as FoldedMessage | null },
    chain: { events: [] as AnyEvent[], through: null as FoldedMessage | null },
  };
  let share = 0;
  const windowOf = <Event extends AnyEvent>(source: FeedSource) =>
    evictShare(folded[source].events as Event[], share).window;
  const olderEvents = olderAmong((source) =>
    folded[source].events.map((event) =>
      event.family === 'chain'
        ? toChainRow(event, { storedBy: 1, chainId })
        : toMeasurementRow(event, { storedBy: 1 }),
    ),
  );
  const read = createFeedNews({
    chain: {
      economy: () =>
        ({ status: 'available', chain: { chainId }, feed: windowOf<ChainFeedEvent>('chain') }) as EconomyView,
      foldedThrough: () => folded.chain.through,
    },
    counters: {
      achievements: () => windowOf<MeasurementEvent>('measurement') as MeasurementProgress,
      shownThrough: () => folded.measurement.through,
    },
    olderEvents,
  });
  return {
    read,
    listItems: (source: FeedSource) => folded[source].events.map(toItem),
    /** Folds a stream. A restored state does not know when its last message was stored. */
    follow: (source: FeedSource, stream: Stream, isRestored = false) => {
      const { seq: position = 0, storedAtMs = 0 } = stream.messages.at(-1) ?? {};
      folded[source] = {
        events: foldAll(source, stream).map(({ event }) => event),
        through: {
          streamCreatedMs: stream.createdMs,
          position,
          storedAtMs: isRestored ? 0 : storedAtMs,
        },
      };
    },
    evict: (next: number) => {
      share = next;
    },
  };
}

type Replica = ReturnType<typeof createReplica>;

/** More reads than any client needs for the events of a story. */
const readsMax = 1_000;

/** A client that keeps the ID of its last message, and reads the feed when it is told that a source restarts. */
function createClient(category: FeedCategory, limit: number, hasFault: (source: FeedSource) => boolean) {
  const known = new Set<string>();
  const places = { measurement: new Set<string>(), chain: new Set<string>() };
  const problems: string[] = [];
  let lastId = '';
  const readAll = (replica: Replica, source: FeedSource) => {
    for (const { id } of replica.listItems(source)) known.add(id);
  };
  return {
    known,
    problems,
    hasBegun: () => lastId !== '',
    begin: ({ read, ...replica }: Replica) => {
      const end = read().findEnd(category);
      if (end === null) return;
      lastId = encodeFeedPosition(end);
      for (const source of feedSources) readAll({ read, ...replica }, source);
    },
    /** Receives so many messages, or all; what else was sent to it is lost with its connection. */
    receive: async (replica: Replica, messagesMax = Number.POSITIVE_INFINITY) => {
      let position = decodeFeedPosition(lastId) as FeedPosition;
      let left = messagesMax;
      let reads = 0;
      for (const source of feedSources)
        for (;;) {
          if (++reads > readsMax) throw new Error('a client reads without end');
          const found = replica.read().next(source, position[source], { category, limit });
          const next = typeof found === 'function' ? await found(neverAborted) : found;
          if (next === null) break;
          if (next.isRestarted) {
            if (left-- <= 0) return;
            if (!hasFault(source)) problems.push(`${source} restarts although its events are there`);
            places[source].clear();
            readAll(replica, source);
          }
          let before = next.isRestarted ? null : position[source];
          for (const { item, place } of next.items) {
            if (left-- <= 0) return;
            if (before !== null && compareArrivals(place, before) <= 0)
              problems.push(`${item.id} comes too late`);
            before = place;
            const key = JSON.stringify(place);
            if (places[source].has(key)) problems.push(`${item.id} came twice`);
            if (!isOfCategory(category, item.type)) problems.push(`${item.id} has another category`);
            places[source].add(key);
            known.add(item.id);
            lastId = encodeFeedPosition({ ...position, [source]: place });
          }
          position = { ...position, [source]: next.place };
        }
    },
  };
}

const source = fc.constantFrom(...feedSources);
const at = fc.nat(2);
const seldom = <Value>(arbitrary: fc.Arbitrary<Value>, otherwise: Value) =>
  fc.oneof({ weight: 5, arbitrary: fc.constant(otherwise) }, { weight: 1, arbitrary });
const kindOf = <Kind extends string, Members extends object>(
  weight: number,
  kind: Kind,
  members: { readonly [Name in keyof Members]: fc.Arbitrary<Members[Name]> },
) => ({
  weight,
  arbitrary: fc.record(members).map((values): { kind: Kind } & Members => ({ kind, ...(values as Members) })),
});

const step = fc.oneof(
  kindOf(8, 'message', {
    source,
    afterMs: fc.constantFrom(0, 1, 20_000, 1_800_000),
    count: fc.nat(3),
    /** A reorganization, after which the chain may return to the first block that it undoes. */
    undone: seldom(fc.record({ count: fc.integer({ min: 1, max: 4 }), isReturn: fc.boolean() }), null),
  }),
  kindOf(1, 'cutShort', { source, by: fc.integer({ min: 1, max: 6 }) }),
  kindOf(1, 'recreated', { source }),
  kindOf(1, 'clock', { backMs: fc.constantFrom(0, 7, 240_000) }),
  kindOf(6, 'fold', { at, source, isRestored: seldom(fc.constant(true), false) }),
  kindOf(2, 'evict', { at, share: fc.double({ min: 0, max: 1, noNaN: true }) }),
  kindOf(6, 'receive', { at, messagesMax: fc.oneof(fc.nat(3), fc.constant(undefined)) }),
);

it('a client of the event stream loses nothing, and is told before it receives an event again', async () => {
  const story = fc.record({
    steps: fc.array(step, { minLength: 1, maxLength: 80, size: 'max' }),
    category: fc.constantFrom(...feedCategories),
    limit: fc.integer({ min: 1, max: 9 }),
    evictedAtLast: fc.constantFrom(0, 0.5, 0.9, 1),
  });
  await fc.assert(
    fc.asyncProperty(story, async ({ steps, category, limit, evictedAtLast }) => {
      const streams: Record<FeedSource, Stream> = {
        measurement: { createdMs: 1, messages: [] },
        chain: { createdMs: 2, messages: [] },
      };
      const replicas = [createReplica(), createReplica(), createReplica()] as const;
      const replicaAt = (index: number) => replicas[index] as Replica;
      const foldEverywhere = () => {
        for (const of of feedSources) for (const replica of replicas) replica.follow(of, streams[of]);
      };
      foldEverywhere();
      const faulty = new Set<FeedSource>();
      const client = createClient(category, limit, (of) => faulty.has(of));
      let [nowMs, backMs, eventCount, latestCreatedMs] = [1_000_000_000_000, 0, 0, 2];
      const taken = new Set<string>();
      const publish = (of: FeedSource, added: readonly number[] = [], dropped = 0) => {
        const { createdMs, messages } = streams[of];
        const seq = (messages.at(-1)?.seq ?? 0) + 1;
        let storedAtMs = nowMs - backMs;
        // A server that was cut off needs longer than a millisecond to use a sequence again.
        for (; taken.has(`${of} ${seq} ${storedAtMs}`); storedAtMs++);
        taken.add(`${of} ${seq} ${storedAtMs}`);
        streams[of] = { createdMs, messages: [...messages, { seq, storedAtMs, added, dropped }] };
      };
      for (const one of steps)
        switch (one.kind) {
          case 'message': {
            nowMs += one.afterMs;
            const undone = one.source === 'chain' ? one.undone : null;
            const gone = foldAll(one.source, streams[one.source]).slice(-(undone?.count ?? 0) || Infinity);
            const returned = undone?.isReturn ? gone.slice(0, 1).map(({ number }) => number) : [];
            const added = Array.from({ length: one.count }, () => eventCount++);
            if (gone.length > 0) faulty.add(one.source);
            publish(one.source, [...returned, ...added], gone.length);
            break;
          }
          case 'cutShort': {
            faulty.add(one.source);
            const { createdMs, messages } = streams[one.source];
            streams[one.source] = { createdMs, messages: messages.slice(0, -one.by) };
            break;
          }
          case 'recreated':
            faulty.add(one.source);
            streams[one.source] = { createdMs: ++latestCreatedMs, messages: [] };
            break;
          case 'clock':
            // A process that is behind has then later times, and takes the sequences for used again.
            if (one.backMs > 0) for (const of of feedSources) faulty.add(of);
            backMs = one.backMs;
            break;
          case 'fold':
            replicaAt(one.at).follow(one.source, streams[one.source], one.isRestored);
            break;
          case 'evict':
            replicaAt(one.at).evict(one.share);
            break;
          case 'receive':
            if (client.hasBegun()) await client.receive(replicaAt(one.at), one.messagesMax);
            else client.begin(replicaAt(one.at));
        }
      if (!client.hasBegun()) return;
      // Something newer than the client has seen shows a process that it is not behind.
      [nowMs, backMs] = [nowMs + 3_600_000, 0];
      for (const of of feedSources) publish(of);
      foldEverywhere();
      replicaAt(0).evict(evictedAtLast);
      await client.receive(replicaAt(0));
      expect(client.problems).toEqual([]);
      const shown = feedSources.flatMap((of) => replicaAt(0).listItems(of));
      const lost = shown.filter(({ id, type }) => isOfCategory(category, type) && !client.known.has(id));
      expect(lost.map(({ id }) => id)).toEqual([]);
    }),
    { numRuns: runs(300) },
  );
});

it.each<[string, Partial<SourcePlace>, 'waits' | 'restarts']>([
  ['that follows at the same time', { position: 2 }, 'waits'],
  ['that follows although it is older', { position: 2, storedAtMs: 4 }, 'restarts'],
  ['whose place another event has', { storedAtMs: 6 }, 'restarts'],
  ['of a newer stream', { streamCreatedMs: 2 }, 'waits'],
  ['of an older stream', { streamCreatedMs: 0 }, 'restarts'],
])('a client with an event %s, which is not folded, %s', (_, changed, outcome) => {
  const replica = createReplica();
  const message = { seq: 1, storedAtMs: 5, added: [7], dropped: 0 };
  replica.follow('measurement', { createdMs: 1, messages: [message] });
  const place = { streamCreatedMs: 1, position: 1, ordinal: 0, storedAtMs: 5, ...changed };
  const next = replica.read().next('measurement', place, { category: 'all', limit: 9 });
  expect(next).toEqual(
    outcome === 'waits' ? null : expect.objectContaining({ isRestarted: true, items: [expect.anything()] }),
  );
});

it('a source whose chain is not there takes nothing from the other one', () => {
  const [event] = buildMeasurementEvents([{ receivedAtMs: 0, distances: 0 }]);
  const window = createWindow([event as MeasurementEvent]);
  const readWith = (chain: Parameters<typeof createFeedNews>[0]['chain']) =>
    createFeedNews({
      chain,
      counters: { achievements: () => window as MeasurementProgress, shownThrough: () => foldedThrough },
      olderEvents: noOlderEvents,
    })();
  const query = { category: 'all', limit: 9 } as const;
  const alone = readWith(createTestChainViews());
  expect(alone.findEnd('all')).toMatchObject({ measurement: { position: 1 }, chain: null });
  expect(alone.next('measurement', null, query)).toMatchObject({ items: [{ item: { event } }] });
  expect(alone.next('chain', null, query)).toBeNull();
  const views = createTestChainViews();
  const late = readWith({
    foldedThrough: () => foldedThrough,
    economy: () =>
      ({ ...views.economy(), reason: 'indexer_unavailable' }) as ReturnType<typeof views.economy>,
  });
  const begins = feedCategories.filter((category) => late.findEnd(category) !== null);
  expect(begins).toEqual(['measurement']);
  expect(late.next('measurement', null, query)).toMatchObject({ items: [{ item: { event } }] });
  expect(late.next('chain', null, query)).toBeNull();
});
