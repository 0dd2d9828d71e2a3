import fc from 'fast-check';
import { List } from 'immutable';
import { describe, expect, it } from 'vitest';
import { toActivityRow } from '../../actors/chain/rows/activityRows.ts';
import type { ChainState } from '../../actors/chain/state/chainState.ts';
import type { ChainFeedEvent, MeasurementEvent } from '../../actors/events/eventSchemas.ts';
import { toChainRow, toMeasurementRow } from '../../actors/feed/eventRows.ts';
import { toChainItem } from '../../actors/feed/feedItem.ts';
import { findNewestPosition } from '../../actors/feed/feedPosition.ts';
import type { EconomyView } from '../../actors/views/chain/chainViewTypes.ts';
import type { ActivityRange } from '../../actors/views/chain/olderActivity.ts';
import { buildActivityPage } from '../../actors/views/chain/ownerPages.ts';
import { encodeFeedCursor } from '../../actors/views/feed/feedCursor.ts';
import {
  createFeedViews,
  type FeedItem,
  type FeedNews,
  type FeedPage,
  type FeedPosition,
  feedCategories,
  isOfCategory,
  type ReadNews,
} from '../../actors/views/feed/feedViews.ts';
import type { MeasurementProgress } from '../../actors/wheel/measurementEvents.ts';
import { createReaderEventsStored } from '../../storage/eventsStored.ts';
import { openEnd } from '../../storage/lineages.ts';
import { StorageUnavailable } from '../../storage/storageUnavailable.ts';
import { createStoredActivity } from '../../storage/storedActivity.ts';
import { createStoredEvents } from '../../storage/storedEvents.ts';
import { chainEvents, measurementEvents } from '../../storage/tables/events.ts';
import { ownerActivity } from '../../storage/tables/ownerActivity.ts';
import { stateOwner } from '../support/chain/economyState.ts';
import {
  buildChainEvents,
  buildMeasurementEvents,
  feedChainId as chainId,
  createWindow,
  evictShare,
  feedRun,
  inFeedOrder,
  minted,
  minter,
  readingHistory,
  spanHistory,
} from '../support/chain/feedEvents.ts';
import { buildTransactionHash } from '../support/chain/hashes.ts';
import { buildClaim } from '../support/chain/ownerEvents.ts';
import { type OpenTables, openTables } from '../support/storage/openTables.ts';
import { storeRows } from '../support/storage/storeRows.ts';

const neverAborted = new AbortController().signal;

/** Share of events that have left memory: none, all or any. */
const share = fc.oneof(fc.constant(0), fc.constant(1), fc.double({ min: 0, max: 1, noNaN: true }));
const history = fc.record({
  readings: readingHistory(25),
  spans: spanHistory(25),
  measurementShare: share,
  chainShare: share,
  limit: fc.integer({ min: 1, max: 25 }),
  category: fc.constantFrom(...feedCategories),
});

/** All events are in rows, so a client that has received none of them reads rows. */
const allInRows = {
  readings: [0, 1, 2].map((receivedAtMs) => ({ receivedAtMs, distances: 1 })),
  spans: [],
  measurementShare: 1,
  chainShare: 1,
  limit: 1,
  category: 'all' as const,
};

/** Memory holds the four events of the two newest readings, so one of these limits ends a page exactly where memory ends. */
const newestInMemory = [3, 4, 5].map((limit) => ({
  ...allInRows,
  readings: [0, 1, 2, 3].map((day) => ({ receivedAtMs: day * 10, distances: 1 })),
  measurementShare: 0.88,
  limit,
}));

/** Both sources recorded their events in the same millisecond, and a page ends at each of them. */
const atOneTime = {
  ...allInRows,
  readings: [1, 1].map((receivedAtMs) => ({ receivedAtMs, distances: 1 })),
  spans: [{ gapMs: 1, blocks: [[[true, false]]] }],
};

const readRuns = async () => [{ run: feedRun, through: openEnd }];

/** A feed over sources that a test sets, and over rows that it gives. */
function createFeed({ database }: OpenTables) {
  const eventsStored = createReaderEventsStored({
    database,
    readRuns: { measurement: readRuns, chain: readRuns },
  });
  const sources = {
    measurement: createWindow<MeasurementEvent>([]),
    chain: createWindow<ChainFeedEvent>([]),
  };
  const identities = { core: stateOwner, mining: minter } as EconomyView['identities'];
  const view = () =>
    ({ status: 'available', chain: { chainId }, identities, feed: sources.chain }) as EconomyView;
  const feed = createFeedViews({
    installationId: 'wheel-1',
    chain: { economy: view },
    progress: () => sources.measurement as MeasurementProgress,
    olderEvents: createStoredEvents({ database, eventsStored }),
  });
  return { feed, sources };
}

const buildRows = (measurements: readonly MeasurementEvent[], chain: readonly ChainFeedEvent[]) => ({
  measurementEvents: measurements.map((event) => toMeasurementRow(event, { storedBy: 1 })),
  chainEvents: chain.map((event) => toChainRow(event, { chainId, storedBy: 1 })),
});

type Feed = ReturnType<typeof createFeed>['feed'];
type Category = (typeof feedCategories)[number];

async function walk(feed: Feed, category: Category, limit: number) {
  const seen: FeedItem[] = [];
  for (let cursor: string | null = null, isFirst = true; isFirst || cursor !== null; isFirst = false) {
    const page = (await feed.page({ category, limit, cursor }, neverAborted)) as FeedPage;
    seen.push(...page.events);
    cursor = page.nextCursor;
    if (cursor !== null) expect(page.events).toHaveLength(limit);
  }
  return seen;
}

/** Everything of a category after a position, asked for in pieces. */
async function resume(feed: Feed, category: Category, from: FeedPosition, limit: number) {
  const delivered: FeedItem[] = [];
  const positions: FeedPosition[] = [];
  let isFromRows = false;
  for (let position = from; ; ) {
    const found = feed.after(category, position, limit);
    isFromRows ||= typeof found === 'function';
    const news = (typeof found === 'function' ? await found(neverAborted) : found) as FeedNews;
    delivered.push(...news.items.map(({ item }) => item));
    positions.push(...news.items.map((arrived) => arrived.position));
    position = news.position;
    if (news.isComplete) {
      expect(position).toBe(feed.position());
      return { delivered, positions, isFromRows };
    }
  }
}

describe('events of any age', () => {
  it('are the same page by page, and as they arrived, wherever memory ends', async () => {
    const opened = await openTables();
    const { database } = opened;
    const eventTables = [measurementEvents, chainEvents].flatMap((of) => Object.values(of));
    let isFromRows = false;
    await fc.assert(
      fc.asyncProperty(history, fc.nat(), async (given, seed) => {
        const { limit, category } = given;
        const [measurements, chain] = [
          buildMeasurementEvents(given.readings, 101),
          buildChainEvents(given.spans, 101),
        ];
        const ofMeasurement = evictShare(measurements, given.measurementShare);
        const ofChain = evictShare(chain, given.chainShare);
        for (const { name } of eventTables) await database.command(`TRUNCATE TABLE ${name}`);
        // An earlier run of the folds recorded the same events, from messages that a purge took, at other times and places.
        const earlier = buildChainEvents(given.spans, 1).map((event) => ({ ...event, recordedAtMs: 1_003 }));
        const others = buildRows(buildMeasurementEvents(given.readings, 1), earlier);
        await storeRows(database, others, 'earlier');
        await storeRows(database, buildRows(ofMeasurement.gone, ofChain.gone), feedRun);
        // A batch that was sent twice changes nothing, nor what was stored before a restart and is in memory again since.
        await storeRows(database, buildRows(measurements, chain), feedRun);
        const { feed, sources } = createFeed(opened);
        Object.assign(sources, { measurement: ofMeasurement.window, chain: ofChain.window });

        const all = inFeedOrder(measurements, chain);
        const shown = all.filter(({ type }) => isOfCategory(category, type));
        expect((await walk(feed, category, limit)).map(({ id }) => id)).toEqual(shown.map(({ id }) => id));

        // A client that has received the first so many of each source.
        const [deliveredMeasurements, deliveredChain] = [
          seed % (measurements.length + 1),
          Math.floor(seed / 7) % (chain.length + 1),
        ];
        const from = findNewestPosition({
          measurement: createWindow(measurements.slice(0, deliveredMeasurements)),
          chain: createWindow(chain.slice(0, deliveredChain)),
        });
        const resumed = await resume(feed, category, from, limit);
        isFromRows ||= resumed.isFromRows;
        const delivered = resumed.delivered.map(({ id }) => id);
        const missed = [measurements.slice(deliveredMeasurements), chain.slice(deliveredChain)].map(
          (events) => {
            const ids = events.flatMap((event) => shown.find((item) => item.event === event)?.id ?? []);
            expect(delivered.filter((id) => ids.includes(id))).toEqual(ids);
            return ids;
          },
        );
        expect(delivered.toSorted()).toEqual(missed.flat().toSorted());
        // Each position resumes after its event.
        const half = Math.floor(delivered.length / 2);
        const position = resumed.positions[half - 1];
        if (position === undefined) return;
        const rest = await resume(feed, category, position, limit);
        expect(rest.delivered.map(({ id }) => id).toSorted()).toEqual(delivered.slice(half).toSorted());
      }),
      {
        numRuns: 13,
        examples: [allInRows, atOneTime, ...newestInMemory].map((given): [typeof given, number] => [
          given,
          0,
        ]),
      },
    );
    expect(isFromRows).toBe(true);
  });

  it('are found by transaction, in memory and in rows', async () => {
    const opened = await openTables();
    const chain = buildChainEvents(
      Array.from({ length: 6 }, () => ({ gapMs: 1, blocks: [[[true, false, true], [true]], [[true]]] })),
    );
    await storeRows(opened.database, buildRows([], chain), feedRun);
    const hashes = new Set(chain.map(({ source }) => source.transactionHash));
    for (const share of [0, 0.5, 1]) {
      const { feed, sources } = createFeed(opened);
      sources.chain = evictShare(chain, share).window;
      for (const hash of hashes) {
        const found = await feed.ofTransaction(hash, 9, neverAborted);
        const ofTransaction = chain.filter(({ source }) => source.transactionHash === hash);
        expect(found?.events.map(({ id }) => id)).toEqual(
          ofTransaction.map((event) => toChainItem(chainId, event).id),
        );
      }
      expect(await feed.ofTransaction(buildTransactionHash('ee'), 9, neverAborted)).toHaveProperty(
        'events',
        [],
      );
      if (share > 0)
        await expect(feed.ofTransaction(buildTransactionHash('ee'), 9, AbortSignal.abort())).rejects.toThrow(
          StorageUnavailable,
        );
    }
  });

  it('are found by miner, in memory and in rows', async () => {
    const opened = await openTables();
    const [event] = buildChainEvents([{ gapMs: 0, blocks: [[[true]]] }]);
    if (event === undefined) throw new Error('no event');
    const merged = { ...minted, type: 'player.miners_merged', level: 2, effectiveRound: 1n } as const;
    const merge = (survivorTokenId: bigint, donorTokenId: bigint) => {
      const { tokenId: _, weight: _w, firstRound: _f, ...others } = merged;
      return { ...others, survivorTokenId, donorTokenId };
    };
    const claim = {
      type: 'player.rewards_claimed',
      owner: minter,
      tokenIds: [1n],
      amountBaseUnits: 1n,
    } as const;
    const details = [
      ...[1n, 2n, 12n, 3n].map((tokenId) => ({ ...minted, tokenId })),
      merge(1n, 2n),
      claim,
      merge(12n, 3n),
      merge(1n, 12n),
    ];
    const chain = details.map(
      (one, at): ChainFeedEvent => ({
        ...event,
        details: one,
        position: at + 1,
        source: { ...event.source, transactionHash: buildTransactionHash(at + 1) },
      }),
    );
    await storeRows(opened.database, buildRows([], chain), feedRun);
    // A batch that was sent twice.
    await storeRows(opened.database, buildRows([], chain), feedRun);
    for (const share of [0, 0.5, 1]) {
      const { feed, sources } = createFeed(opened);
      sources.chain = evictShare(chain, share).window;
      const find = async (tokenId: bigint) =>
        (await feed.ofMiner(tokenId, neverAborted))?.events.map(({ position }) => position);
      expect([
        share,
        await find(1n),
        await find(2n),
        await find(3n),
        await find(12n),
        await find(9n),
      ]).toEqual([share, [1, 5, 8], [2, 5], [4, 7], [3, 7, 8], []]);
    }
  });

  it('are found by ID, in memory and in rows', async () => {
    const opened = await openTables();
    const { database } = opened;
    const block = { gapMs: 1, blocks: [[[true, false]]] };
    const chain = buildChainEvents(Array.from({ length: 10 }, () => block)).map((event) => ({
      ...event,
      recordedAtMs: event.position * 10_000,
    }));
    const measurements = buildMeasurementEvents(
      Array.from({ length: 10 }, () => ({ receivedAtMs: 0, distances: 0 })),
    ).map((event) => ({ ...event, arrivedAtMs: event.position * 10_000 + 5_000 }));
    await storeRows(database, buildRows(measurements, chain), feedRun);
    const all = inFeedOrder(measurements, chain);
    for (const [measurementShare, chainShare] of [
      [0, 0],
      [0.97, 1],
    ] as const) {
      const { feed, sources } = createFeed(opened);
      sources.measurement = evictShare(measurements, measurementShare).window;
      sources.chain = evictShare(chain, chainShare).window;
      for (const [at, { id, source, position, ordinal, arrivedAtMs }] of all.entries()) {
        // The neighbours of an event are found the same way.
        if (at % 3 !== 0) continue;
        const located = (await feed.locate(id, neverAborted)) as FeedPosition;
        expect(located[source]).toEqual({ run: feedRun, position, ordinal });
        const { delivered } = await resume(feed, 'all', located, 30);
        const ids = new Set(delivered.map((item) => item.id));
        // A client gets all later events of the same source, and at least all later ones of the other source.
        for (const item of all) {
          if (item.source === source)
            expect(ids.has(item.id)).toBe(
              item.position > position || (item.position === position && item.ordinal > ordinal),
            );
          else if (item.arrivedAtMs >= arrivedAtMs) expect(ids).toContain(item.id);
          else if (item.arrivedAtMs < arrivedAtMs - 60_000) expect(ids).not.toContain(item.id);
        }
      }
      for (const id of ["chain:'", "measurement:\\' OR 1 = 1 --", `${all[0]?.id}0`, 'chain:\0\n\u{1f600}'])
        expect(await feed.locate(id, neverAborted)).toBeNull();
    }
  });

  it('are returned after any position that a client invents', async () => {
    const opened = await openTables();
    const { database } = opened;
    const measurements = buildMeasurementEvents(
      [0, 1, 2].map((receivedAtMs) => ({ receivedAtMs, distances: 0 })),
    );
    const { feed, sources } = createFeed(opened);
    sources.measurement = evictShare(measurements, 1).window;
    await storeRows(database, buildRows(measurements, []), feedRun);
    for (const source of ['chain', 'measurement'] as const)
      for (const position of [-1, 0, Number.MAX_SAFE_INTEGER, Number.MIN_SAFE_INTEGER]) {
        const cursor = encodeFeedCursor('all', { recordedAtMs: 1_001, source, position, ordinal: position });
        const page = (await feed.page({ category: 'all', limit: 9, cursor }, neverAborted)) as FeedPage;
        expect(page.events.length).toBeGreaterThan(0);
        expect(page.events.every(({ recordedAtMs }) => recordedAtMs <= 1_001)).toBe(true);
      }
  });

  it('are read with as many rows of twenty thousand as of a thousand', async () => {
    const opened = await openTables();
    const { database } = opened;
    const [event] = buildChainEvents([{ gapMs: 0, blocks: [[[false]]] }]);
    if (event === undefined) throw new Error('no event');
    // Twenty of a message, a hundred of a time, and one in fifty is of a player.
    const eventAt = (at: number): ChainFeedEvent => ({
      ...event,
      details: at % 50 === 0 ? minted : event.details,
      recordedAtMs: Math.floor(at / 100),
      position: Math.floor(at / 20) + 1,
      ordinal: at % 20,
      source: { ...event.source, transactionHash: buildTransactionHash(at) },
    });
    /** Rows that were read of all tables since the engine was opened. */
    const rowsSelected = async () => {
      const [row] = await database.select("SELECT value FROM system.events WHERE event = 'SelectedRows'");
      return Number(row?.[0]);
    };
    const events: ChainFeedEvent[] = [];
    const costs: number[][] = [];
    for (const count of [1_000, 20_000]) {
      const added = Array.from({ length: count - events.length }, (_unused, at) =>
        eventAt(events.length + at),
      );
      events.push(...added);
      for (let from = 0; from < added.length; from += 5_000)
        await storeRows(database, buildRows([], added.slice(from, from + 5_000)), feedRun);
      const { feed, sources } = createFeed(opened);
      sources.chain = evictShare(events, 1).window;
      const middle = events[count / 2] as ChainFeedEvent;
      const { recordedAtMs, position, ordinal } = middle;
      const from = findNewestPosition({ measurement: createWindow([]), chain: createWindow([middle]) });
      const reads = (['all', 'players', 'protocol'] as const).flatMap((category) => {
        const place = { recordedAtMs, source: 'chain', position, ordinal } as const;
        const cursor = encodeFeedCursor(category, place);
        return [
          async () => {
            const page = (await feed.page({ category, limit: 9, cursor }, neverAborted)) as FeedPage;
            expect(page.events).toHaveLength(9);
          },
          async () => {
            const read = feed.after(category, from, 9) as ReadNews;
            const news = await read(neverAborted);
            expect(news.items).toHaveLength(9);
          },
        ];
      });
      const id = toChainItem(chainId, middle).id;
      const cost: number[] = [];
      const { transactionHash } = middle.source;
      const findTransaction = () => feed.ofTransaction(transactionHash, 9, neverAborted);
      for (const read of [...reads, () => feed.locate(id, neverAborted), findTransaction]) {
        const before = await rowsSelected();
        await read();
        cost.push((await rowsSelected()) - before);
      }
      costs.push(cost);
    }
    const [few, many] = costs as [number[], number[]];
    // Some marks of each part of a table; more rows have more parts.
    for (const [at, cost] of many.entries()) expect(cost).toBeLessThan((few[at] as number) + 10_000);
    expect(many.at(-1)).toBeLessThan(10_000);
  });

  it('are awaited by a reader, which reports when they do not arrive', async () => {
    const opened = await openTables();
    const { database } = opened;
    const readings = [0, 1, 2].map((receivedAtMs) => ({ receivedAtMs, distances: 0 }));
    const events = buildMeasurementEvents(readings).slice(0, 3);
    const { feed, sources } = createFeed(opened);
    sources.measurement = evictShare(events, 0.7).window;
    await storeRows(database, buildRows(events.slice(0, 1), []), feedRun);
    const ask = () => feed.page({ category: 'all', limit: 2, cursor: null }, neverAborted);
    await expect(ask()).rejects.toThrow('ClickHouse does not hold the older measurement events yet');
    const asked = ask();
    await storeRows(database, buildRows(events.slice(1, 2), []), feedRun);
    expect(await asked).toHaveProperty('events.length', 2);
  });
});

describe('the activity of an owner that has left memory', () => {
  /** Rows of the events from a number on, each of a message of its own. */
  const buildActivity = (from: number, end: number, firstPosition: number) =>
    Array.from({ length: end - from }, (_, index) => {
      const event = buildClaim({ blockNumber: 1n }, { position: firstPosition + index });
      const one = { owner: stateOwner, eventNumber: from + index, blockNumber: 1n, event };
      return toActivityRow(one, { storedBy: 1 });
    });

  async function open() {
    const { database } = await openTables();
    const { read } = createStoredActivity({
      database,
      writer: null,
      readRuns,
    });
    return {
      merge: () => database.command(`OPTIMIZE TABLE ${ownerActivity.name} FINAL`),
      store: (rows: ReturnType<typeof buildActivity>) =>
        storeRows(database, { ownerActivity: rows }, feedRun),
      /** Positions of the events 2 to 5, for the page of a state at a position whose memory begins with event 6. */
      readPositions: async (position: number) => {
        const known = { tokenIds: [], activityCount: 10, activity: List(Array(4).fill(null)) };
        // A page is built of these members alone.
        const state = { owners: new Map([[stateOwner, known]]), position };
        const page = { owner: stateOwner, limit: 6, after: 2 };
        const { older } = buildActivityPage(state as unknown as ChainState, page);
        const events = await read(older as ActivityRange, neverAborted);
        expect(events).toEqual(events.map(({ position }) => buildClaim({ blockNumber: 1n }, { position })));
        return events.map(({ position }) => position);
      },
    };
  }

  it('is read by its numbers, each event once, from rows of its own branch', async () => {
    const { store, merge, readPositions } = await open();
    // Parts that are read in either order: each with every second event, and an event twice.
    for (const numbers of [[1, 3, 5, 7], [0, 2, 4, 6, 8, 9], [5]])
      await store(numbers.flatMap((number) => buildActivity(number, number + 1, number + 1)));
    expect(await readPositions(10)).toEqual([3, 4, 5, 6]);
    // Another process has followed a reorganization, which this one has not.
    await store(buildActivity(4, 10, 21));
    expect(await readPositions(10)).toEqual([3, 4, 5, 6]);
    expect(await readPositions(30)).toEqual([3, 4, 21, 22]);
    await merge();
    await expect(readPositions(10)).rejects.toThrow('does not hold the older activity');
    expect(await readPositions(30)).toEqual([3, 4, 21, 22]);
  });

  it('is refused where a row is missing', async () => {
    const { store, readPositions } = await open();
    await store([...buildActivity(0, 4, 1), ...buildActivity(5, 10, 6)]);
    await expect(readPositions(10)).rejects.toThrow('does not hold the older activity');
  });
});
