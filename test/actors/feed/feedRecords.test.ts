import fc from 'fast-check';
import { expect, it } from 'vitest';
import type { ChainFeedEvent, MeasurementEvent } from '../../../actors/events/eventSchemas.ts';
import { selectCategory } from '../../../actors/feed/eventFilter.ts';
import { toChainRow } from '../../../actors/feed/eventRows.ts';
import { type FeedItem, toChainItem } from '../../../actors/feed/feedItem.ts';
import type { OlderEvents } from '../../../actors/pages/olderRows.ts';
import type { EconomyView } from '../../../actors/views/chain/coreViews.ts';
import {
  type FoundEvents,
  findEvent,
  findEventsOf,
  findEventsOfSpan,
  findEventsOfTime,
  isAbout,
  readChainPage,
} from '../../../actors/views/feed/feedRecords.ts';
import { createFeedViews, type FeedPage } from '../../../actors/views/feed/feedViews.ts';
import { addAchievements, type MeasurementProgress } from '../../../actors/wheel/measurementEvents.ts';
import {
  buildChainEvents,
  buildMeasurementEvents,
  buildNamedEvents,
  feedChainId as chainId,
  checkpointed,
  createWindow,
  evictShare,
  inFeedOrder,
  minted,
  namedOwners,
  recordStep,
  settled,
} from '../../support/chain/feedEvents.ts';
import { evenShare } from '../../support/evenShare.ts';
import { runs } from '../../support/propertyRuns.ts';
import { acceptedReading } from '../../support/readings/acceptedReading.ts';
import { olderAmong } from '../../support/storage/noOlderRows.ts';

const { signal } = new AbortController();

/** Events that settle or mint for the next few rounds, or are about none. Many become safe together, as after a start; some come hours later. */
const history = fc.array(
  fc.record({
    kind: fc.constantFrom('settlement', 'settlement', 'checkpoint', 'mint'),
    rounds: fc.integer({ min: 1, max: 5 }),
    blocks: fc.nat(3),
    safeMs: fc.constantFrom<number>(0, 0, 1, 400_000, 7_200_000),
    blockMs: fc.constantFrom<number>(0, 12_000, 600_000),
  }),
  { maxLength: 60, size: 'max' },
);
type Written = (typeof history extends fc.Arbitrary<infer Value> ? Value : never)[number];

function buildEvents(written: readonly Written[]): ChainFeedEvent[] {
  const [plain] = buildChainEvents([{ gapMs: 0, blocks: [[[true]]] }]) as [ChainFeedEvent];
  let [settledRound, processed, height, safeMs, blockMs, position] = [0n, 0n, 0n, 1e12, 5e11, 1];
  return written.map((one, index) => {
    const count = BigInt(one.rounds);
    safeMs += one.safeMs;
    blockMs += one.blockMs;
    if (one.safeMs > 0) position++;
    const describe = (): ChainFeedEvent['details'] => {
      if (one.kind === 'mint') return minted;
      if (one.kind === 'checkpoint') {
        processed += count;
        return { ...checkpointed, afterRound: processed - count, throughRound: processed };
      }
      settledRound += count;
      const completedBlockCount = BigInt(one.blocks);
      height += completedBlockCount;
      return settled({
        previousSettledThroughRound: settledRound - count,
        settledThroughRound: settledRound,
        ...{ completedBlockCount, blockHeight: height },
        ...(one.blocks > 0 && {
          firstCompletedBlock: height - completedBlockCount + 1n,
          lastCompletedBlock: height,
        }),
      });
    };
    const source = {
      ...plain.source,
      blockNumber: BigInt(index),
      blockTimestampMs: blockMs,
      logIndex: index,
    };
    return { ...plain, details: describe(), source, recordedAtMs: safeMs, position, ordinal: index };
  });
}

const buildEqualEvents = (count: number, written: Written) =>
  buildEvents(Array.from({ length: count }, () => written));

interface FeedOptions {
  readonly measurements?: readonly MeasurementEvent[] | null;
  readonly isStoreAway?: boolean;
  /** Called at each read of evicted events. */
  readonly onRead?: () => void;
}

const pagesMax = 200;

/** The feed of a process that has evicted a share of the chain's events. */
function createFeed(
  events: readonly ChainFeedEvent[],
  share: number,
  { measurements = null, isStoreAway = false, onRead = () => undefined }: FeedOptions = {},
) {
  const { window, gone } = evictShare(events, share);
  const rows = gone.map((event) => toChainRow(event, { chainId, storedBy: 1 }));
  const among = olderAmong(() => rows);
  const olderEvents: OlderEvents = {
    ...among,
    before: async (...asked) => {
      if (isStoreAway) throw new Error('away');
      onRead();
      return among.before(...asked);
    },
  };
  const feed = createFeedViews({
    installationId: 'wheel-1',
    chain: { economy: () => ({ status: 'available', chain: { chainId }, feed: window }) as EconomyView },
    progress: () => measurements && (createWindow(measurements) as MeasurementProgress),
    olderEvents,
  });
  let pages = 0;
  const page: typeof feed.page = (...request) => {
    if (++pages > pagesMax) throw new Error('a search reads page after page');
    return feed.page(...request);
  };
  return { ...feed, page };
}

const kinds = ['settledRounds', 'mintedRounds'] as const;

/** The rounds that an event is about, one by one. */
function listRounds(kind: (typeof kinds)[number], { event }: FeedItem): bigint[] {
  if (event.family !== 'chain') return [];
  const { details } = event;
  const list = (after: bigint, through: bigint) =>
    Array.from({ length: Number(through - after) }, (_, index) => after + 1n + BigInt(index));
  if (details.type === 'system.mining_checkpointed')
    return kind === 'mintedRounds' ? list(details.afterRound, details.throughRound) : [];
  if (details.type !== 'system.settlement_completed' || kind !== 'settledRounds') return [];
  return list(details.previousSettledThroughRound, details.settledThroughRound);
}

const idsOf = (items: readonly FeedItem[]) => items.map(({ id }) => id);
const share = fc.constantFrom(0, 0.5, 0.9, 1);

it('events are found by rounds wherever they are', async () => {
  const span = fc.tuple(fc.integer({ min: 1, max: 90 }), fc.constantFrom(0, 0, 1, 20));
  await fc.assert(
    fc.asyncProperty(history, share, fc.constantFrom(...kinds), span, async (written, gone, kind, at) => {
      const events = buildEvents(written);
      const [first, last] = [BigInt(at[0]), BigInt(at[0] + at[1])];
      const found = await findEventsOfSpan(createFeed(events, gone), kind, [first, last], signal);
      const all = inFeedOrder([], events);
      const isWithin = (item: FeedItem) =>
        listRounds(kind, item).some((round) => first <= round && round <= last);
      expect(idsOf((found as FoundEvents).events)).toEqual(idsOf(all.filter(isWithin)));
      const ofFirst = all.filter((item) => listRounds(kind, item).includes(first));
      expect(idsOf(all.filter((item) => isAbout(kind, item, first)))).toEqual(idsOf(ofFirst));
    }),
    { numRuns: runs(150) },
  );
});

it('an old round is found with few reads, even after a long pause', async () => {
  const even = { kind: 'settlement', rounds: 1, blocks: 1, safeMs: 600_000, blockMs: 600_000 } as const;
  const written = Array.from({ length: 3_000 }, (_, at) =>
    at === 1_500 ? { ...even, safeMs: 5_000_000_000 } : even,
  );
  let reads = 0;
  const feed = createFeed(buildEvents(written), 0.9, {
    onRead: () => {
      reads++;
    },
  });
  const counts: number[] = [];
  for (const round of [40n, 700n, 1_490n, 1_510n, 2_000n]) {
    const found = await findEventsOfSpan(feed, 'settledRounds', [round, round], signal);
    expect(found).toMatchObject({ events: [{}] });
    counts.push(reads);
    reads = 0;
  }
  // The line through two events leads to the place, unless the pause is between. Then its events are read.
  expect(counts).toEqual([3, 3, 2, 2, 2]);
});

it('pages of a type between two times have each event of that time once', async () => {
  const request = fc.record({
    type: fc.constantFrom('system.settlement_completed', 'system.mining_checkpointed'),
    limit: fc.integer({ min: 1, max: 9 }),
    /** Shares of the time of all blocks; null for no limit. */
    from: fc.option(evenShare(-0.1, 1.1)),
    to: fc.option(evenShare(-0.1, 1.1)),
  });
  await fc.assert(
    fc.asyncProperty(history, share, request, async (written, gone, { type, limit, from, to }) => {
      const events = buildEvents(written);
      const times = events.map(({ source }) => source.blockTimestampMs);
      const [start, end] = [times[0] ?? 0, times.at(-1) ?? 0];
      /** A time of a block, if one is near. */
      const toTime = (part: number | null) => {
        if (part === null) return null;
        const timeMs = Math.round(start + part * (end - start));
        return times.findLast((one) => one <= timeMs && timeMs - one < 300_000) ?? timeMs;
      };
      const [fromMs, toMs] = [toTime(from), toTime(to)];
      const feed = createFeed(events, gone);
      const shown: string[] = [];
      let cursor: string | null = null;
      do {
        const page = (await readChainPage(
          feed,
          type as never,
          { limit, cursor, fromMs, toMs },
          signal,
        )) as FeedPage;
        expect(page.events.length).toBeLessThanOrEqual(limit);
        // A page that is not full is the last one.
        if (shown.length > 0 && page.events.length < limit) expect(page.nextCursor).toBeNull();
        // No page follows the last event.
        if (shown.length > 0 && fromMs === null && toMs === null) expect(page.events).not.toEqual([]);
        shown.push(...idsOf(page.events));
        expect(shown.length).toBeLessThanOrEqual(events.length);
        cursor = page.nextCursor;
      } while (cursor !== null);
      const expected = inFeedOrder([], events).filter(({ type: of, event }) => {
        const atMs = event.family === 'chain' ? event.source.blockTimestampMs : 0;
        return of === type && (fromMs === null || atMs >= fromMs) && (toMs === null || atMs < toMs);
      });
      expect(shown).toEqual(idsOf(expected));
    }),
    { numRuns: runs(150) },
  );
});

it('a page shows no evicted event that has only one of two nouns', async () => {
  const events = buildEqualEvents(9, {
    kind: 'checkpoint',
    rounds: 1,
    blocks: 0,
    safeMs: 1,
    blockMs: 12_000,
  });
  const { transactionHash: hash } = (events[3] as ChainFeedEvent).source;
  const filter = {
    ...selectCategory('protocol'),
    nouns: [[{ kind: 'transaction', hash } as const], [{ kind: 'ethereumBlock', number: 3n } as const]],
  };
  const page = await createFeed(events, 1).page({ filter, limit: 9, cursor: null }, signal);
  expect(idsOf((page as FeedPage).events)).toEqual([toChainItem(chainId, events[3] as ChainFeedEvent).id]);
});

it('a page of evicted events of an owner and a type is not short for events of other types', async () => {
  const filter = {
    ...selectCategory('players'),
    type: 'player.miners_merged',
    nouns: [[{ kind: 'owner', address: namedOwners[0] } as const]],
  } as const;
  const page = await createFeed(buildNamedEvents(60), 1).page({ filter, limit: 4, cursor: null }, signal);
  expect(page).toMatchObject({ events: Array(4).fill({ type: filter.type }) });
});

it('a page has no event of the time at which it ends, also behind a cursor', () => {
  const events = buildEqualEvents(3, { kind: 'mint', rounds: 1, blocks: 0, safeMs: 1, blockMs: 0 });
  const [oldest, next] = events as [ChainFeedEvent, ChainFeedEvent];
  const feed = createFeed(events, 0);
  const filter = selectCategory('all');
  const { nextCursor } = feed.page({ filter, limit: 1, cursor: null }, signal) as FeedPage;
  for (const cursor of [null, nextCursor]) {
    const ending = { ...filter, toMs: next.recordedAtMs };
    expect(feed.page({ filter: ending, limit: 9, cursor }, signal)).toMatchObject({
      events: [{ event: oldest }],
    });
  }
});

it('a page has an evicted event of the chain before measurements of its time', async () => {
  const events = buildEqualEvents(1, { kind: 'mint', rounds: 1, blocks: 0, safeMs: 1, blockMs: 0 });
  const receivedAtMs = (events[0] as ChainFeedEvent).recordedAtMs - 1_000;
  const measurements = buildMeasurementEvents([1, 2].map(() => ({ receivedAtMs, distances: 0 })));
  const feed = createFeed(events, 1, { measurements });
  const page = await feed.page({ filter: selectCategory('all'), limit: 1, cursor: null }, signal);
  expect(page).toMatchObject({ events: [{ source: 'chain' }] });
});

it('events of a day are found by the clock of the device', async () => {
  const dayMs = 86_400_000;
  const readings = fc.array(
    fc.record({
      gapMs: fc.constantFrom(0, 1, dayMs / 2 - 1, dayMs / 2),
      delayMs: fc.constantFrom(-300_000, -1, 0, 5_000, 7_200_000, dayMs, 3 * dayMs),
    }),
    { maxLength: 60, size: 'max' },
  );
  await fc.assert(
    fc.asyncProperty(readings, fc.nat(3), async (given, day) => {
      let observedAtMs = 10 * dayMs;
      let progress: MeasurementProgress | null = null;
      for (const [index, { gapMs, delayMs }] of given.entries()) {
        observedAtMs += gapMs;
        const [position, receivedAtMs] = [index + 1, observedAtMs + delayMs];
        const speedMmPerSecond = 3_000 + position * recordStep;
        const reading = acceptedReading({ position, observedAtMs, receivedAtMs, speedMmPerSecond });
        progress = addAchievements(progress, reading, { dayMm: 0, previousDayMm: 0, storedAtMs: position });
      }
      const events = progress?.events.toArray() ?? [];
      const startMs = (10 + day) * dayMs;
      const feed = createFeed([], 0, { measurements: events });
      const found = await findEventsOfTime(feed, [startMs, startMs + dayMs], signal);
      const isOfDay = ({ event }: FeedItem) =>
        event.family === 'measurement' &&
        event.observedAtMs >= startMs &&
        event.observedAtMs < startMs + dayMs &&
        event.receivedAtMs < startMs + 2 * dayMs;
      expect(idsOf((found as FoundEvents).events)).toEqual(idsOf(inFeedOrder(events, []).filter(isOfDay)));
    }),
    { numRuns: runs(150) },
  );
});

it('evicted events are never missed silently while ClickHouse is away', async () => {
  const events = buildEqualEvents(40, {
    kind: 'settlement',
    rounds: 1,
    blocks: 1,
    safeMs: 400_000,
    blockMs: 12_000,
  });
  const feed = createFeed(events, 0.25, { isStoreAway: true });
  const page = { limit: 9, cursor: null, fromMs: null, toMs: null };
  // A page without evicted events is no promise.
  const complete = createFeed(events, 0).page(
    { filter: selectCategory('all'), limit: 99, cursor: null },
    signal,
  );
  expect(complete).toMatchObject({ nextCursor: null });
  const { blockTimestampMs: earlyMs, transactionHash: hash } = (events[3] as ChainFeedEvent).source;
  const asked = [
    findEventsOfSpan(feed, 'settledRounds', [3n, 3n], signal),
    findEventsOf(feed, { kind: 'transaction', hash }, signal),
    findEventsOf(feed, { kind: 'ethereumBlock', number: 3n }, signal),
    findEvent(feed, toChainItem(chainId, events[3] as ChainFeedEvent).id, signal),
    readChainPage(feed, 'system.settlement_completed', { ...page, limit: 30 }, signal),
    readChainPage(feed, 'system.settlement_completed', { ...page, toMs: earlyMs }, signal),
  ];
  const outcomes = await Promise.allSettled(asked);
  expect(outcomes.map(({ status }) => status)).toEqual(asked.map(() => 'rejected'));
  for (const round of [40n, 35n])
    expect(await findEventsOfSpan(feed, 'settledRounds', [round, round], signal)).toMatchObject({
      events: [{}],
    });
});
