import fc from 'fast-check';
import { List } from 'immutable';
import { describe, expect, it } from 'vitest';
import type { ChainFeedEvent } from '../../actors/chain/chainState.ts';
import type { EconomyView } from '../../actors/chain/chainViewTypes.ts';
import { chainEventRow, measurementEventRow } from '../../actors/feed/eventRows.ts';
import { chainItem, type FeedItem, measurementItem } from '../../actors/feed/feedIndex.ts';
import {
  createFeedViews,
  cursorOfItem,
  type FeedNews,
  type FeedPage,
  feedCategories,
  feedTypes,
} from '../../actors/feed/feedViews.ts';
import { type HeldEvents, nothingGivenUp } from '../../actors/feed/heldEvents.ts';
import type { MeasurementEvent, MeasurementProgress } from '../../actors/feed/measurementEvents.ts';
import { noRows } from '../../actors/storedRows.ts';
import { openDatabase } from '../../storage/database.ts';
import { migrate } from '../../storage/migrations.ts';
import { createRowEncoder, insertsOf } from '../../storage/rowInserts.ts';
import { createStoredEvents } from '../../storage/storedEvents.ts';
import { chained, measured } from '../support/feedEvents.ts';
import { silentLogger } from '../support/silentLogger.ts';
import { temporaryDirectory } from '../support/temporaryDirectory.ts';

const chainId = 31_337n;
const neverAborted = new AbortController().signal;

/** The newest of a source's events, as if the others had been given up. */
function shortened<Event>(
  events: readonly Event[],
  share: number,
  recordedAtMs: (event: Event) => number,
): { held: HeldEvents<Event>; gone: readonly Event[] } {
  const gone = events.slice(0, Math.floor(events.length * share));
  const throughMs = Math.max(0, ...gone.map(recordedAtMs));
  return {
    gone,
    held: { events: List(events.slice(gone.length)), givenUp: { count: gone.length, throughMs } },
  };
}

/** Events of both sources; several of one time, and measurements in any order. */
const history = fc.record({
  measurements: fc.array(fc.nat(40), { maxLength: 40 }),
  chain: fc.array(fc.record({ gap: fc.nat(2), isMint: fc.boolean() }), { maxLength: 60 }),
  measurementShare: fc.double({ min: 0, max: 1, noNaN: true }),
  chainShare: fc.double({ min: 0, max: 1, noNaN: true }),
  limit: fc.integer({ min: 1, max: 25 }),
  category: fc.constantFrom(...feedCategories),
});

async function stored() {
  const database = openDatabase({ path: temporaryDirectory() });
  const tables = await migrate(database, silentLogger);
  const sources = {
    measurement: { events: List(), givenUp: nothingGivenUp } as HeldEvents<MeasurementEvent>,
    chain: { events: List(), givenUp: nothingGivenUp } as HeldEvents<ChainFeedEvent>,
  };
  const view = () => ({ status: 'available', chain: { chainId }, feed: sources.chain }) as EconomyView;
  const feed = createFeedViews({
    installationId: 'wheel-1',
    chain: { economy: view },
    progress: () => sources.measurement as MeasurementProgress,
    olderEvents: createStoredEvents({ database, tables: () => tables }),
  });
  async function give(measurements: readonly MeasurementEvent[], chain: readonly ChainFeedEvent[]) {
    const encoded = createRowEncoder()({
      ...noRows,
      measurementEvents: measurements.map((event) => measurementEventRow(event, 1)),
      chainEvents: chain.map((event) => chainEventRow(event, { chainId, position: 1 })),
      throughPosition: 1,
    });
    for (const { table, columns, bytes } of insertsOf(tables, [encoded]))
      await database.insertBytes(table, columns, bytes);
  }
  async function clear() {
    await database.command(`TRUNCATE TABLE ${tables.measurementEvents}`);
    await database.command(`TRUNCATE TABLE ${tables.chainEvents}`);
  }
  return { database, feed, sources, give, clear };
}

describe('events of any age', () => {
  it('are the same page by page, and as they came, wherever memory ends', async () => {
    const { database, feed, sources, give, clear } = await stored();
    let isFromBoth = 0;
    try {
      await fc.assert(
        fc.asyncProperty(history, async (given) => {
          const { limit, category } = given;
          const measurements = given.measurements.map((atMs, index) => measured(index + 1, 1_000 + atMs));
          let nowMs = 1_000;
          const chain = given.chain.map(({ gap, isMint }, index) => {
            nowMs += gap;
            return chained(index + 1, nowMs, isMint);
          });
          const ofMeasurement = shortened(
            measurements,
            given.measurementShare,
            (event) => event.receivedAtMs,
          );
          const ofChain = shortened(chain, given.chainShare, (event) => event.recordedAtMs);
          await clear();
          await give(ofMeasurement.gone, ofChain.gone);
          // A batch that was sent twice changes nothing.
          await give(ofMeasurement.gone.slice(0, 5), ofChain.gone.slice(0, 5));
          sources.measurement = ofMeasurement.held;
          sources.chain = ofChain.held;

          const all: FeedItem[] = [
            ...measurements.map(measurementItem),
            ...chain.map((event) => chainItem(chainId, event)),
          ]
            .filter(({ type }) => category === 'all' || feedTypes[type] === category)
            .sort((a, b) => b.recordedAtMs - a.recordedAtMs || (a.id < b.id ? -1 : 1));

          const seen: FeedItem[] = [];
          for (
            let cursor: string | null = null, isFirst = true;
            isFirst || cursor !== null;
            isFirst = false
          ) {
            const found = feed.page({ category, limit, cursor }, neverAborted);
            if (found instanceof Promise) isFromBoth++;
            const page = (await found) as FeedPage;
            seen.push(...page.events);
            cursor = page.nextCursor;
            if (cursor !== null) expect(page.events).toHaveLength(limit);
          }
          expect(seen).toEqual(all);

          const [oldest, ...later] = all.toReversed();
          if (oldest === undefined) return;
          const told: FeedItem[] = [];
          for (let last = oldest; ; last = told.at(-1) as FeedItem) {
            const cursor = cursorOfItem(category, last);
            const { items } = (await feed.newerThan(category, cursor, limit, neverAborted)) as FeedNews;
            told.push(...items);
            if (items.length < limit) break;
          }
          expect(told).toEqual(later);
        }),
        { numRuns: 60 },
      );
      expect(isFromBoth).toBeGreaterThan(0);
    } finally {
      await database.close();
    }
  });

  it('are not told while some of them are still on their way to ClickHouse', async () => {
    const { database, feed, sources, give } = await stored();
    try {
      const events = [1, 2, 3].map((number) => measured(number, number));
      sources.measurement = shortened(events, 0.7, (event) => event.receivedAtMs).held;
      await give(events.slice(0, 1), []);
      const ask = () => feed.page({ category: 'all', limit: 2, cursor: null }, neverAborted);
      await expect(ask()).rejects.toThrow('ClickHouse does not hold the 2 oldest measurement events yet');
      await give(events.slice(1, 2), []);
      expect(await ask()).toHaveProperty('events.length', 2);
    } finally {
      await database.close();
    }
  });

  it('come back behind any place that a client makes up', async () => {
    const { database, feed, sources, give } = await stored();
    try {
      const events = [1, 2, 3].map((number) => measured(number, number));
      sources.measurement = shortened(events, 1, (event) => event.receivedAtMs).held;
      await give(events, []);
      for (const id of ["'", "\\' OR 1 = 1 --", '\0\n', '\u{1f600}', "z') OR (1 = 1"]) {
        const cursor = cursorOfItem('all', { id, recordedAtMs: 2 } as FeedItem);
        const page = (await feed.page({ category: 'all', limit: 9, cursor }, neverAborted)) as FeedPage;
        expect(page.events.every(({ recordedAtMs }) => recordedAtMs <= 2)).toBe(true);
      }
    } finally {
      await database.close();
    }
  });
});
