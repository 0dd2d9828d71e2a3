import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { compareArrivals } from '../../../actors/events/arrival.ts';
import type { ChainFeedEvent, MeasurementEvent } from '../../../actors/events/eventSchemas.ts';
import type { EventWindow } from '../../../actors/events/eventWindow.ts';
import { selectCategory } from '../../../actors/feed/eventFilter.ts';
import { toChainRow, toMeasurementRow } from '../../../actors/feed/eventRows.ts';
import { type FeedCategory, feedCategories, isOfCategory } from '../../../actors/feed/feedCategories.ts';
import {
  advancePosition,
  decodeFeedPosition,
  encodeFeedPosition,
  type FeedPosition,
} from '../../../actors/feed/feedPosition.ts';
import type { OlderEvents } from '../../../actors/feed/olderEvents.ts';
import type { EconomyView } from '../../../actors/views/chain/coreViews.ts';
import type { FeedNews } from '../../../actors/views/feed/feedNews.ts';
import { createFeedViews, type FeedPage, type FeedViews } from '../../../actors/views/feed/feedViews.ts';
import type { MeasurementProgress } from '../../../actors/wheel/measurementEvents.ts';
import { chainlessViews } from '../../support/chain/chainlessViews.ts';
import {
  buildChainEvents,
  buildMeasurementEvents,
  feedChainId as chainId,
  createWindow,
  evictShare,
  feedRun,
  inFeedOrder,
  readingHistory,
  spanHistory,
} from '../../support/chain/feedEvents.ts';
import { evenShare } from '../../support/evenShare.ts';
import { runs } from '../../support/propertyRuns.ts';
import { noOlderEvents } from '../../support/storage/noOlderEvents.ts';

it('a feed position stays while a source has no event', () => {
  const at = (run: string, position: number) => ({ run, position, ordinal: 0 });
  const before = { measurement: at('a', 2), chain: at('b', 2) };
  const newest = { measurement: at('', 0), chain: at('b', 1) };
  expect(advancePosition(before, newest)).toBe(before);
  for (const chain of [at('c', 1), at('c', 2)])
    expect(advancePosition(before, { ...newest, chain })).toEqual({ ...before, chain });
});

const neverAborted = new AbortController().signal;

/** Events of the streams so far. A reorganization replaces the newest events of the chain by others, with later messages. */
interface Streams {
  measurements: readonly MeasurementEvent[];
  chain: readonly ChainFeedEvent[];
}

/** A process that folds both streams, with some of the events evicted. */
function createProcess(streams: Streams) {
  const sources = {
    measurement: createWindow<MeasurementEvent>([]),
    chain: createWindow<ChainFeedEvent>([]),
  };
  const rowsOf = (categories: readonly string[]) =>
    listItems(streams).filter(({ category }) => categories.includes(category));
  const olderEvents: OlderEvents = {
    ...noOlderEvents,
    before: async ({ evicted }, { keys }) =>
      rowsOf(keys).filter((row) => compareArrivals(row, evicted.through) <= 0),
    find: async ({ source }, id) =>
      listItems(streams).find((row) => row.source === source && row.id === id) ?? null,
    lastBefore: async ({ source }, timeMs) =>
      listItems(streams).findLast((row) => row.source === source && row.arrivedAtMs < timeMs) ?? null,
    after: async ({ evicted }, { categories, arrival, limit }) =>
      rowsOf(categories)
        .filter((row) => compareArrivals(row, arrival) > 0 && compareArrivals(row, evicted.through) <= 0)
        .slice(0, limit),
  };
  const feed = createFeed(
    () => sources.chain,
    () => sources.measurement,
    olderEvents,
  );
  return {
    feed,
    /** Folds the chain again from an older snapshot, and shows it meanwhile. */
    rewind: () => {
      sources.chain = createWindow(streams.chain.slice(0, Math.floor(streams.chain.length / 2)));
      feed.refresh();
    },
    /** Folds the streams. Only irreversible events of the chain are evicted. */
    fold: (share: number, irreversible: number) => {
      sources.measurement = evictShare(streams.measurements, share).window;
      const gone = Math.min(irreversible, Math.floor(streams.chain.length * share));
      sources.chain = evictShare(
        streams.chain,
        streams.chain.length === 0 ? 0 : gone / streams.chain.length,
      ).window;
      feed.refresh();
    },
  };
}

/** A client of the event stream: it is resumed until it has everything, then receives new events. */
function createClient(feed: FeedViews, category: FeedCategory, lastId: string | null, limit: number) {
  const delivered: { id: string; arrival: string }[] = [];
  const ids: string[] = [];
  let position: FeedPosition | null = lastId === null ? null : decodeFeedPosition(lastId);
  const take = (news: FeedNews) => {
    for (const arrived of news.items) {
      if (!isOfCategory(category, arrived.item.type)) continue;
      const { id, source, position: message, ordinal } = arrived.item;
      delivered.push({ id, arrival: `${source} ${message}.${ordinal}` });
      ids.push(encodeFeedPosition(arrived.position));
    }
    position = news.position;
  };
  async function resume() {
    for (;;) {
      if (position === null) throw new Error('a client without a position has nothing to resume');
      const found = feed.after(category, position, limit);
      const news = (typeof found === 'function' ? await found(neverAborted) : found) as FeedNews;
      expect(news.items.every(({ item }) => isOfCategory(category, item.type))).toBe(true);
      take(news);
      // Events may have arrived during a read.
      if (typeof found === 'function') expect(news.isComplete).toBe(false);
      isBehind = !news.isComplete;
      if (news.isComplete || news.items.length === 0) return;
    }
  }
  let [isBehind, isStopped] = [false, false];
  const stopListening = feed.listen((news) => {
    expect(isStopped).toBe(false);
    if (isBehind || position !== news.from) return;
    if (news.isComplete) take(news);
    else isBehind = true;
  });
  return {
    delivered,
    ids,
    open: async () => {
      if (position === null) position = feed.position();
      else await resume();
      if (position === null) throw new Error('the feed has no position');
      return encodeFeedPosition(position);
    },
    catchUp: async () => {
      if (isBehind) await resume();
    },
    stop: () => {
      isStopped = true;
      stopListening();
    },
  };
}

/** One step, while a client listens to one of two processes. */
const step = fc.record({
  readings: fc.nat(3),
  spans: fc.nat(2),
  /** Spans whose events a reorganization undoes. */
  undone: fc.oneof({ weight: 4, arbitrary: fc.constant(0) }, { weight: 1, arbitrary: fc.nat(2) }),
  shares: fc.tuple(evenShare(), evenShare()),
  isRewound: fc.boolean(),
  /** The client disconnects without having seen the last events, and connects to either process. */
  drop: fc.option(fc.record({ unseen: fc.nat(4), at: fc.constantFrom(0, 1), isRestarted: fc.boolean() })),
});

describe('a client of the event stream', () => {
  it('receives each event once and in order, through drops and reorganizations', async () => {
    const story = fc.record({
      readings: readingHistory(60),
      spans: spanHistory(40),
      steps: fc.array(step, { minLength: 1, maxLength: 20, size: 'max' }),
      category: fc.constantFrom(...feedCategories),
      limit: fc.integer({ min: 1, max: 9 }),
    });
    await fc.assert(
      fc.asyncProperty(story, async ({ readings, spans, steps, category, limit }) => {
        const [allMeasurements, allChain] = [buildMeasurementEvents(readings), buildChainEvents(spans)];
        const streams: Streams = { measurements: [], chain: [] };
        let [readingCount, spanCount] = [0, 0];
        const processes = [createProcess(streams), createProcess(streams)];
        const at = (index: number) => processes[index] as ReturnType<typeof createProcess>;
        for (const one of processes) one.fold(0, 0);
        let connected = 0;
        let client = createClient(at(0).feed, category, null, limit);
        // A client that disconnects before the first event has only this ID.
        let lastId = await client.open();
        const seen: { id: string; arrival: string }[] = [];
        const arrived = new Map<string, string>();
        for (const { readings: more, spans: moreSpans, undone, shares, isRewound, drop } of steps) {
          readingCount += more;
          // Undone spans never arrive again; their replacements have messages of their own.
          const reachable = spanCount - undone;
          const before = streams.chain.filter(({ position }) => position <= reachable);
          spanCount += moreSpans;
          streams.measurements = allMeasurements.filter(({ position }) => position <= readingCount);
          streams.chain = [
            ...before,
            ...allChain.filter(({ position }) => position > spanCount - moreSpans && position <= spanCount),
          ];
          for (const { id, source, position, ordinal } of listItems(streams))
            if (isOfCategory(category, parseType(id))) arrived.set(`${source} ${position}.${ordinal}`, id);
          const irreversible = streams.chain.filter(({ position }) => position <= spanCount - 6).length;
          const foldAll = () => {
            for (const [index, share] of shares.entries()) at(index).fold(share, irreversible);
          };
          if (isRewound) at(connected).rewind();
          else foldAll();
          await client.catchUp();
          if (drop !== null) {
            const kept = Math.max(0, client.delivered.length - drop.unseen);
            seen.push(...client.delivered.slice(0, kept));
            if (kept > 0) lastId = client.ids[kept - 1] as string;
            client.stop();
            connected = drop.at;
            if (drop.isRestarted) {
              processes[connected] = createProcess(streams);
              at(connected).fold(shares[connected] as number, irreversible);
            }
            client = createClient(at(connected).feed, category, lastId, limit);
            await client.open();
          }
          foldAll();
          await client.catchUp();
        }
        seen.push(...client.delivered);
        expect(new Set(seen.map(({ arrival }) => arrival)).size).toBe(seen.length);
        // The client saw everything that is visible at the end, and nothing that never was.
        const visible = listItems(streams).filter(({ id }) => isOfCategory(category, parseType(id)));
        for (const { id, source, position, ordinal } of visible)
          expect(seen).toContainEqual({ id, arrival: `${source} ${position}.${ordinal}` });
        for (const { id, arrival } of seen) expect(arrived.get(arrival)).toBe(id);
        for (const source of ['chain', 'measurement']) {
          const places = seen
            .filter(({ arrival }) => arrival.startsWith(source))
            .map(({ arrival }) => Number(arrival.split(' ')[1]?.split('.')[0]));
          expect(places).toEqual(places.toSorted((one, other) => one - other));
        }
        client.stop();
      }),
      { numRuns: runs(60) },
    );
  });

  it('continues after an event named by ID, a minute earlier elsewhere', async () => {
    const slowly = 20_000;
    const measurements = buildMeasurementEvents(Array(12).fill({ receivedAtMs: 0, distances: 0 })).map(
      (event) => ({ ...event, arrivedAtMs: event.position * slowly }),
    );
    const chain = buildChainEvents(Array(12).fill({ gapMs: 1, blocks: [[[true, false]]] })).map((event) => ({
      ...event,
      recordedAtMs: event.position * slowly + 1,
    }));
    const streams = { measurements, chain };
    const { feed, fold } = createProcess(streams);
    const toPlace = (found?: ReturnType<typeof listItems>[number]) => ({
      run: feedRun,
      position: found?.position ?? 0,
      ordinal: found?.ordinal ?? 0,
    });
    const byArrival = listItems(streams).toSorted((one, other) => one.arrivedAtMs - other.arrivedAtMs);
    for (const share of [0, 0.5, 1]) {
      fold(share, chain.length);
      const found = feed.after('all', { chain: toPlace(), measurement: toPlace() }, 99);
      const news = (typeof found === 'function' ? await found(neverAborted) : found) as FeedNews;
      expect(news.items.map(({ item: { id } }) => id)).toEqual(byArrival.map(({ id }) => id));
      // What is in memory is not read.
      const newest = feed.position() as FeedPosition;
      expect(feed.after('all', newest, 99)).toMatchObject({ items: [], isComplete: true });
      const page = { filter: selectCategory('all'), limit: 1, cursor: null };
      if (share < 1) expect(feed.page(page, neverAborted)).toHaveProperty('events.length', 1);
      for (const item of listItems(streams)) {
        const other = listItems(streams).findLast(
          ({ source, arrivedAtMs }) => source !== item.source && arrivedAtMs < item.arrivedAtMs - 60_000,
        );
        const [at, otherAt] = [toPlace(item), toPlace(other)];
        expect(await feed.locate(item.id, neverAborted)).toEqual(
          item.source === 'chain' ? { chain: at, measurement: otherAt } : { measurement: at, chain: otherAt },
        );
      }
      for (const id of ['chain:1', 'measurement:1']) expect(await feed.locate(id, neverAborted)).toBeNull();
    }
  });

  it('receives all events of a recreated stream, although its positions restart', async () => {
    const block = { gapMs: 1, blocks: [[[true]]] };
    const chain = buildChainEvents([block, block, block]);
    const before = createProcess({ measurements: [], chain });
    before.fold(0, 0);
    const position = before.feed.position() as FeedPosition;
    let recreated = { ...createWindow(chain.slice(0, 1)), run: 'another' };
    const noEvents = createWindow<MeasurementEvent>([]);
    const other = createFeed(
      () => recreated,
      () => noEvents,
    );
    expect(other.after('all', position, 9)).toMatchObject({ items: [{}], isComplete: true });
    other.refresh();
    const delivered = other.position();
    other.listen(() => expect.unreachable('nothing is new'));
    other.refresh();
    recreated = { ...recreated, events: createWindow(chain).events };
    expect(other.position()).toBe(delivered);
  });
});

it('the feed has neither news nor a position without a chain', async () => {
  const feed = createFeedViews({
    installationId: 'wheel-1',
    chain: chainlessViews(),
    progress: () => null,
    olderEvents: noOlderEvents,
  });
  const place = { run: '', position: 0, ordinal: 0 };
  const after = feed.after('all', { chain: place, measurement: place }, 9);
  const located = await feed.locate('chain:1', neverAborted);
  expect([after, feed.position(), located]).toEqual([null, null, 'unavailable']);
});

describe('a page of the feed', () => {
  it('names no type of the measurements before the first reading', () => {
    const noEvents = createWindow<ChainFeedEvent>([]);
    const feed = createFeed(
      () => noEvents,
      () => null,
    );
    const read = (category: FeedCategory) =>
      feed.page({ filter: selectCategory(category), limit: 1, cursor: null }, neverAborted);
    const { activeEventTypes } = read('all') as FeedPage;
    expect(activeEventTypes.filter((type) => isOfCategory('measurement', type))).toEqual([]);
    expect(read('protocol')).toHaveProperty('status', 'available');
    expect(read('measurement')).toMatchObject({ status: 'unavailable', reason: 'source_disabled' });
  });

  it('continues with the evicted events of its category, of each source that has some', async () => {
    // All at the same time.
    const measurements = buildMeasurementEvents([{ receivedAtMs: 1, distances: 0 }]);
    const chain = buildChainEvents([{ gapMs: 1, blocks: [[[true, false, true, false]]] }]);
    const { feed, fold } = createProcess({ measurements, chain });
    for (const share of [0, 0.5, 1]) {
      fold(share, chain.length);
      for (const category of feedCategories)
        for (const limit of [3, 99]) {
          const { events } = (await feed.page(
            { filter: selectCategory(category), limit, cursor: null },
            neverAborted,
          )) as FeedPage;
          const expected = inFeedOrder(measurements, chain).filter(({ type }) =>
            isOfCategory(category, type),
          );
          expect(events.map(({ id }) => id)).toEqual(expected.slice(0, limit).map(({ id }) => id));
        }
    }
  });
});

/** Views of windows that a test sets. */
function createFeed(
  chain: () => EventWindow<ChainFeedEvent>,
  measurement: () => EventWindow<MeasurementEvent> | null,
  olderEvents = noOlderEvents,
): FeedViews {
  return createFeedViews({
    installationId: 'wheel-1',
    chain: { economy: () => ({ status: 'available', chain: { chainId }, feed: chain() }) as EconomyView },
    progress: () => measurement() as MeasurementProgress | null,
    olderEvents,
  });
}

function listItems({ measurements, chain }: Streams) {
  return [
    ...measurements.map((event) => ({ ...toMeasurementRow(event, { storedBy: 1 }), source: 'measurement' })),
    ...chain.map((event) => {
      const row = toChainRow(event, { chainId, storedBy: 1 });
      return { ...row, source: 'chain' };
    }),
  ];
}

function parseType(id: string) {
  return id.split(':').find((part) => /^(?:system|player|measurement)\./.test(part)) as Parameters<
    typeof isOfCategory
  >[1];
}
