import fc from 'fast-check';
import { List } from 'immutable';
import { describe, expect, it } from 'vitest';
import { toActivityRow } from '../../actors/chain/rows/activityRows.ts';
import type { ChainState } from '../../actors/chain/state/chainState.ts';
import { noActivity } from '../../actors/chain/state/ownerState.ts';
import type { ChainFeedEvent, MeasurementEvent } from '../../actors/events/eventSchemas.ts';
import { type EventFilter, selectCategory } from '../../actors/feed/eventFilter.ts';
import type { EventNoun } from '../../actors/feed/eventKeys.ts';
import { type KeyedEventRow, toChainRow, toMeasurementRow } from '../../actors/feed/eventRows.ts';
import {
  encodeFeedCursor,
  type FeedItem,
  type FeedSource,
  feedCategories,
  feedSources,
  feedTypes,
  isOfCategory,
  toChainItem,
} from '../../actors/feed/feedItem.ts';
import type { FeedPosition, SourcePlace } from '../../actors/feed/feedPosition.ts';
import { stringify } from '../../actors/folds/bigintJson.ts';
import { listKeys } from '../../actors/schemas/listKeys.ts';
import type { EconomyView } from '../../actors/views/chain/coreViews.ts';
import { captureActivity } from '../../actors/views/chain/ownerViews.ts';
import { createFeedNews, type ReadNext } from '../../actors/views/feed/feedNews.ts';
import { findEvent } from '../../actors/views/feed/feedRecords.ts';
import { createFeedViews, type FeedPage } from '../../actors/views/feed/feedViews.ts';
import type { MeasurementProgress } from '../../actors/wheel/measurementEvents.ts';
import { createAwaitRows } from '../../storage/reading/awaitRows.ts';
import { createStoredActivity } from '../../storage/reading/storedActivity.ts';
import { createStoredEvents } from '../../storage/reading/storedEvents.ts';
import { type LineageRuns, openEnd } from '../../storage/runs/lineages.ts';
import { chainEvents, measurementEvents } from '../../storage/tables/events.ts';
import { ownerActivity } from '../../storage/tables/ownerActivity.ts';
import { foldedThrough, stateOwner } from '../support/chain/economyState.ts';
import {
  buildChainEvents,
  buildMeasurementEvents,
  buildNamedEvents,
  feedChainId as chainId,
  createWindow,
  evictShare,
  inFeedOrder,
  minted,
  minter,
  namedOwners,
  readingHistory,
  spanHistory,
} from '../support/chain/feedEvents.ts';
import { buildTransactionHash } from '../support/chain/hashes.ts';
import { buildClaim } from '../support/chain/ownerClaims.ts';
import { evenShare } from '../support/evenShare.ts';
import { type OpenTables, openTables, storeRows } from '../support/storage/openTables.ts';

const neverAborted = new AbortController().signal;

/** Share of events that have left memory: none, all or any. */
const share = fc.oneof(fc.constant(0), fc.constant(1), evenShare());
const history = fc.record({
  readings: readingHistory(25),
  spans: spanHistory(25),
  measurementShare: share,
  chainShare: share,
  // Pages of one event, which take many statements, are among the examples.
  limit: fc.constantFrom<number>(2, 3, 7, 25),
  category: fc.constantFrom(...feedCategories),
  /** Shares of the events after which runs begin. */
  cuts: fc.array(evenShare(), { maxLength: 3 }),
  /** Rows of each run above its end, which count no longer, and events before it that it stores once more, as after a reorganization. */
  lost: fc.nat(3),
  again: fc.nat(3),
});

type RunsGiven = Pick<
  typeof history extends fc.Arbitrary<infer Value> ? Value : never,
  'cuts' | 'lost' | 'again'
>;

/** All events are in rows, so a client that has received none of them reads rows. */
const allInRows = {
  readings: [0, 1, 2].map((receivedAtMs) => ({ receivedAtMs, distances: 1 })),
  spans: [],
  measurementShare: 1,
  chainShare: 1,
  limit: 1,
  category: 'all' as const,
  cuts: [0.5],
  lost: 1,
  again: 1,
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

const feedRun = 'run';
const oneRun: LineageRuns = [{ run: feedRun, through: openEnd }];
const readRuns = async () => oneRun;

/** A feed over sources that a test sets, and over rows that it gives. */
function createFeed({ database }: OpenTables) {
  const runs: Record<FeedSource, LineageRuns> = { measurement: oneRun, chain: oneRun };
  const awaitSource = (source: FeedSource) =>
    createAwaitRows({ database, writer: null, readRuns: async () => runs[source], what: 'the older events' });
  const awaitRows = { measurement: awaitSource('measurement'), chain: awaitSource('chain') };
  const sources = {
    measurement: createWindow<MeasurementEvent>([]),
    chain: createWindow<ChainFeedEvent>([]),
  };
  const identities = { core: stateOwner, mining: minter } as EconomyView['identities'];
  const view = () =>
    ({ status: 'available', chain: { chainId }, identities, feed: sources.chain }) as EconomyView;
  const olderEvents = createStoredEvents({ database, awaitRows });
  const chain = { economy: view, foldedThrough: () => foldedThrough };
  const progress = () => sources.measurement as MeasurementProgress;
  const feed = createFeedViews({ installationId: 'wheel-1', chain, progress, olderEvents });
  const counters = { achievements: progress, shownThrough: () => foldedThrough };
  return { feed, sources, runs, readMoment: createFeedNews({ chain, counters, olderEvents }) };
}

/** Splits rows over runs, each of which ends with a message. */
function splitRows(rows: readonly KeyedEventRow[], { cuts, lost, again }: RunsGiven) {
  const stored = rows.map((row) => ({ ...row, storedBy: row.position }));
  const cutAt = (cut: number) => stored[Math.floor(cut * stored.length)]?.position ?? 0;
  const ends = [...new Set(cuts.map(cutAt))].sort((one, other) => one - other);
  return [...ends, openEnd].map((through, at) => {
    const from = ends[at - 1] ?? 0;
    const own = stored.filter(({ position }) => position > from && position <= through);
    const cutOff = stored
      .filter(({ position }) => position > through)
      .slice(0, lost)
      .map((row) => ({ ...row, id: `lost ${row.id}`, recordedAtMs: row.recordedAtMs + 1 }));
    const before = stored.filter(({ position }) => position <= from);
    const repeated = before
      .slice(Math.max(0, before.length - again))
      .map((row) => ({ ...row, storedBy: from + 1 }));
    return { run: `run ${at}`, through, rows: [...repeated, ...own, ...cutOff] };
  });
}

const buildRows = (measurements: readonly MeasurementEvent[], chain: readonly ChainFeedEvent[]) => ({
  measurementEvents: measurements.map((event) => toMeasurementRow(event, { storedBy: 1 })),
  chainEvents: chain.map((event) => toChainRow(event, { chainId, storedBy: 1 })),
});

const unknownNouns: readonly EventNoun[] = [
  { kind: 'owner', address: `0x${'4'.repeat(40)}` },
  { kind: 'miner', tokenId: 55n },
  { kind: 'transaction', hash: buildTransactionHash('ee') },
  { kind: 'ethereumBlock', number: 999n },
];

function nounsOf(events: readonly ChainFeedEvent[]): EventNoun[] {
  return [
    ...namedOwners.map((address): EventNoun => ({ kind: 'owner', address })),
    ...[1n, 3n, 5n, 7n, 12n].map((tokenId): EventNoun => ({ kind: 'miner', tokenId })),
    ...events.map(({ source }): EventNoun => ({ kind: 'transaction', hash: source.transactionHash })),
    ...events.map(({ source }): EventNoun => ({ kind: 'ethereumBlock', number: source.blockNumber })),
  ];
}

/** Whether an event names something: the plain second answer. */
function names({ event }: FeedItem, noun: EventNoun): boolean {
  if (event.family !== 'chain') return false;
  const text = stringify(event.details);
  switch (noun.kind) {
    case 'owner':
      return text.includes(noun.address);
    case 'miner': {
      const { tokenIds = [], ...details } = event.details as { readonly tokenIds?: readonly bigint[] };
      const tokens: Readonly<Record<string, unknown>> = details;
      const named = ['tokenId', 'survivorTokenId', 'donorTokenId'].map((name) => tokens[name]);
      return [...named, ...tokenIds].includes(noun.tokenId);
    }
    case 'transaction':
      return event.source.transactionHash === noun.hash;
    case 'ethereumBlock':
      return event.source.blockNumber === noun.number;
    case 'achievement':
      return false;
  }
}

type Feed = ReturnType<typeof createFeed>;
type Category = (typeof feedCategories)[number];

async function readPage({ page }: Feed['feed'], filter: EventFilter, limit: number, cursor: string | null) {
  return ((await page({ filter, limit, cursor }, neverAborted)) as FeedPage).events;
}

async function walk({ feed }: Feed, filter: EventFilter, limit: number) {
  const seen: FeedItem[] = [];
  for (let cursor: string | null = null, isFirst = true; isFirst || cursor !== null; isFirst = false) {
    const page = (await feed.page({ filter, limit, cursor }, neverAborted)) as FeedPage;
    seen.push(...page.events);
    cursor = page.nextCursor;
    // A page may be short, since stored events are found by one condition and chosen by the others.
    if (cursor !== null && filter.nouns.length < 2) expect(page.events.length).toBeLessThanOrEqual(limit);
  }
  return seen;
}

/** Place after the last of some events. */
function placeAfter(events: readonly (ChainFeedEvent | MeasurementEvent)[]): SourcePlace | null {
  const event = events.at(-1);
  if (event === undefined) return null;
  const { position, ordinal } = event;
  const storedAtMs = event.family === 'chain' ? event.recordedAtMs : event.arrivedAtMs;
  return { streamCreatedMs: foldedThrough.streamCreatedMs, position, ordinal, storedAtMs };
}

/** Everything of a category after a position, asked for in pieces. */
async function resume({ readMoment }: Feed, category: Category, from: FeedPosition, limit: number) {
  const delivered: FeedItem[] = [];
  const positions: FeedPosition[] = [];
  let isFromRows = false;
  let position = from;
  for (const source of feedSources)
    for (;;) {
      const found = readMoment().next(source, position[source], { category, limit });
      isFromRows ||= typeof found === 'function';
      const next = typeof found === 'function' ? await found(neverAborted) : found;
      if (next === null) break;
      expect(next.isRestarted).toBe(false);
      delivered.push(...next.items.map(({ item }) => item));
      for (const { place } of next.items) positions.push({ ...position, [source]: place });
      position = { ...position, [source]: next.place };
    }
  return { delivered, positions, isFromRows };
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
        // A batch that was sent twice changes nothing, nor what was stored before a restart and is in memory again since.
        const opening = createFeed(opened);
        const rows = buildRows(measurements, chain);
        for (const [source, table] of [
          ['measurement', 'measurementEvents'],
          ['chain', 'chainEvents'],
        ] as const) {
          const split = splitRows(rows[table], given);
          opening.runs[source] = split.map(({ run, through }) => ({ run, through }));
          for (const { run, rows: own } of [...split, ...split.slice(-1)])
            await storeRows(database, { [table]: own }, run);
        }
        Object.assign(opening.sources, { measurement: ofMeasurement.window, chain: ofChain.window });

        const all = inFeedOrder(measurements, chain);
        const shown = all.filter(({ type }) => isOfCategory(category, type));
        expect((await walk(opening, selectCategory(category), limit)).map(({ id }) => id)).toEqual(
          shown.map(({ id }) => id),
        );

        // Nothing follows an event that another one has replaced.
        const replaced = placeAfter(ofChain.gone);
        if (replaced !== null) {
          const place = { ...replaced, storedAtMs: replaced.storedAtMs + 1 };
          const read = opening.readMoment().next('chain', place, { category, limit });
          expect(await (read as ReadNext)(neverAborted)).toMatchObject({ isRestarted: true });
        }

        // A client that has received the first so many of each source.
        const [deliveredMeasurements, deliveredChain] = [
          seed % (measurements.length + 1),
          Math.floor(seed / 7) % (chain.length + 1),
        ];
        const from = {
          measurement: placeAfter(measurements.slice(0, deliveredMeasurements)),
          chain: placeAfter(chain.slice(0, deliveredChain)),
        };
        const resumed = await resume(opening, category, from, limit);
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
        const rest = await resume(opening, category, position, limit);
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

  it('are found by everything that they name, alone and together, wherever memory ends', async () => {
    const opened = await openTables();
    const chain = buildNamedEvents(60);
    const measurements = buildMeasurementEvents(
      [0, 1, 2].map((receivedAtMs) => ({ receivedAtMs, distances: 1 })),
    );
    const { measurementEvents, chainEvents } = buildRows(measurements, chain);
    await storeRows(opened.database, { measurementEvents }, feedRun);
    const split = splitRows(chainEvents, { cuts: [0.5], lost: 0, again: 0 });
    for (const { run, rows } of split) await storeRows(opened.database, { chainEvents: rows }, run);
    const all = inFeedOrder(measurements, chain);
    const lists = (['owner', 'miner', 'transaction', 'ethereumBlock'] as const).map((kind) => {
      const nouns = [...nounsOf(chain), ...unknownNouns].filter((noun) => noun.kind === kind);
      return fc.option(fc.uniqueArray(fc.constantFrom(...nouns), { minLength: 1 }), { freq: 1 });
    });
    const timeMs = fc.option(
      fc.constantFrom(...all.flatMap(({ recordedAtMs }) => [recordedAtMs, recordedAtMs + 1])),
    );
    const filters: fc.Arbitrary<EventFilter> = fc.record({
      category: fc.constantFrom(...feedCategories),
      type: fc.option(fc.constantFrom(...listKeys(feedTypes))),
      nouns: fc.tuple(...lists).map((given) => given.filter((list) => list !== null)),
      fromMs: timeMs,
      toMs: timeMs,
    });
    const sinceEndOfRun: EventFilter = {
      ...selectCategory('protocol'),
      fromMs: split[0]?.rows.at(-1)?.recordedAtMs ?? 0,
    };
    await fc.assert(
      fc.asyncProperty(filters, share, fc.integer({ min: 1, max: 9 }), async (filter, gone, limit) => {
        const opening = createFeed(opened);
        opening.runs.chain = split.map(({ run, through }) => ({ run, through }));
        opening.sources.chain = evictShare(chain, gone).window;
        opening.sources.measurement = evictShare(measurements, gone).window;
        const { category, type, nouns, fromMs, toMs } = filter;
        const expected = all.filter(
          (item) =>
            isOfCategory(category, item.type) &&
            item.type === (type ?? item.type) &&
            item.recordedAtMs >= (fromMs ?? 0) &&
            item.recordedAtMs < (toMs ?? Number.POSITIVE_INFINITY) &&
            nouns.every((list) => list.some((noun) => names(item, noun))),
        );
        expect((await walk(opening, filter, limit)).map(({ id }) => id)).toEqual(
          expected.map(({ id }) => id),
        );
      }),
      { numRuns: 60, examples: [[sinceEndOfRun, 1, 100]] },
    );
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
      const find = (id: string) => findEvent(feed, id, neverAborted);
      for (const item of all) expect(await find(item.id)).toMatchObject({ events: [item] });
      for (const id of ["chain:'", "measurement:\\' OR 1 = 1 --", `${all[0]?.id}0`, 'chain:\0\n\u{1f600}'])
        expect(await find(id)).toBeNull();
    }
  });

  it('are returned after any position that a client invents', async () => {
    const opened = await openTables();
    const measurements = buildMeasurementEvents(
      [0, 1, 2].map((receivedAtMs) => ({ receivedAtMs, distances: 0 })),
    );
    const { feed, sources } = createFeed(opened);
    sources.measurement = evictShare(measurements, 1).window;
    await storeRows(opened.database, buildRows(measurements, []), feedRun);
    for (const source of ['chain', 'measurement'] as const)
      for (const position of [-1, 0, Number.MAX_SAFE_INTEGER, Number.MIN_SAFE_INTEGER]) {
        const cursor = encodeFeedCursor('all', { recordedAtMs: 1_001, source, position, ordinal: position });
        const events = await readPage(feed, selectCategory('all'), 9, cursor);
        expect(events.length).toBeGreaterThan(0);
        expect(events.every(({ recordedAtMs }) => recordedAtMs <= 1_001)).toBe(true);
      }
  });

  it('are read with some marks of each part of a table, which has twenty thousand', async () => {
    const opened = await openTables();
    const { database } = opened;
    const [event] = buildChainEvents([{ gapMs: 0, blocks: [[[false]]] }]);
    if (event === undefined) throw new Error('no event');
    // Twenty of a message, a hundred of a time, and one in fifty is of a player.
    const events = Array.from(
      { length: 20_000 },
      (_, at): ChainFeedEvent => ({
        ...event,
        details: at % 50 === 0 ? minted : event.details,
        recordedAtMs: Math.floor(at / 100),
        position: Math.floor(at / 20) + 1,
        ordinal: at % 20,
        source: { ...event.source, transactionHash: buildTransactionHash(at) },
      }),
    );
    for (let from = 0; from < events.length; from += 5_000)
      await storeRows(database, buildRows([], events.slice(from, from + 5_000)), feedRun);
    const { feed, sources, readMoment } = createFeed(opened);
    sources.chain = evictShare(events, 1).window;
    const middle = events[10_000] as ChainFeedEvent;
    const { recordedAtMs, position, ordinal, source } = middle;
    const countEvents = async (filter: EventFilter, cursor: string | null) =>
      (await readPage(feed, filter, 9, cursor)).length;
    const reads = (['all', 'players', 'protocol'] as const).flatMap((category) => [
      () =>
        countEvents(
          selectCategory(category),
          encodeFeedCursor(category, { recordedAtMs, source: 'chain', position, ordinal }),
        ),
      async () => {
        const read = readMoment().next('chain', placeAfter([middle]), { category, limit: 9 });
        return (await (read as ReadNext)(neverAborted))?.items.length;
      },
    ]);
    const ofTransaction: EventFilter = {
      ...selectCategory('all'),
      nouns: [[{ kind: 'transaction', hash: source.transactionHash }]],
    };
    const { id } = toChainItem(chainId, middle);
    const find = async () => {
      const found = await findEvent(feed, id, neverAborted);
      return found !== null && 'events' in found ? found.events.length : 0;
    };
    /** Rows that were read of all tables since the engine was opened. */
    const rowsSelected = async () => {
      const [row] = await database.select("SELECT value FROM system.events WHERE event = 'SelectedRows'");
      return Number(row?.[0]);
    };
    for (const [at, read] of [...reads, find, () => countEvents(ofTransaction, null)].entries()) {
      const before = await rowsSelected();
      expect([at, await read()]).toEqual([at, at < reads.length ? 9 : 1]);
      expect((await rowsSelected()) - before).toBeLessThan(10_000);
    }
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
    const awaitRows = createAwaitRows({ database, writer: null, readRuns, what: 'the older activity' });
    const older = createStoredActivity({ database, writer: null, readRuns, awaitRows });
    return {
      older,
      merge: () => database.command(`OPTIMIZE TABLE ${ownerActivity.name} FINAL`),
      store: (rows: ReturnType<typeof buildActivity>) =>
        storeRows(database, { ownerActivity: rows }, feedRun),
      /** Positions of the events 2 to 5, for the page of a state at a position whose memory begins with event 6. */
      readPositions: async (position: number) => {
        const known = {
          tokenIds: [],
          paidBaseUnits: 0n,
          activityCount: 10,
          activity: List(Array(4).fill(null)),
        };
        // A page is built of these members alone.
        const state = { owners: new Map([[stateOwner, known]]), position };
        const list = captureActivity(state as unknown as ChainState, stateOwner, older);
        const found = await list.readRows(8, 6, neverAborted);
        for (const { event } of found)
          expect(event).toEqual(buildClaim({ blockNumber: 1n }, { position: event.position }));
        expect(found.map(({ number }) => number)).toEqual([2, 3, 4, 5]);
        return found.map(({ event }) => event.position);
      },
    };
  }

  it('is read by its numbers, each event once, from rows of its own branch', async () => {
    const { store, merge, readPositions } = await open();
    // Parts that are read in either order: each with every second event, and an event twice.
    for (const numbers of [[1, 3, 5, 7], [0, 2, 4, 6, 8, 9], [5]])
      await store(numbers.flatMap((number) => buildActivity(number, number + 1, number + 1)));
    expect(await readPositions(6)).toEqual([3, 4, 5, 6]);
    // Another process has followed a reorganization, which this one has not.
    await store(buildActivity(4, 10, 21));
    expect(await readPositions(10)).toEqual([3, 4, 5, 6]);
    expect(await readPositions(30)).toEqual([3, 4, 21, 22]);
    await merge();
    await expect(readPositions(10)).rejects.toThrow('does not hold the older activity');
    expect(await readPositions(30)).toEqual([3, 4, 21, 22]);
  });

  it('is found by its transaction, as far as a state has it', async () => {
    const { store, older } = await open();
    await store(buildActivity(0, 3, 1));
    const find = async (digit: number, position: number, rowsThroughBlock: bigint | null) => {
      const state = { activityProgress: { ...noActivity, rowsThroughBlock }, position };
      const found = await older.ofTransaction(buildTransactionHash(digit), state, neverAborted);
      return found.map((event) => event.position).sort();
    };
    expect(await find(1, 10, 1n)).toEqual([1, 2, 3]);
    expect(await find(1, 2, 1n)).toEqual([1, 2]);
    expect(await find(2, 10, 1n)).toEqual([]);
    expect(await find(1, 10, null)).toEqual([]);
    await expect(find(1, 10, 2n)).rejects.toThrow('does not hold the older activity');
  });

  it('is refused where a row is missing', async () => {
    const { store, readPositions } = await open();
    await store([...buildActivity(0, 4, 1), ...buildActivity(5, 10, 6)]);
    await expect(readPositions(10)).rejects.toThrow('does not hold the older activity');
  });
});
