import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createEventChecks, selectCategory } from '../../../actors/feed/eventFilter.ts';
import { type FeedCategory, feedCategories, isOfCategory } from '../../../actors/feed/feedCategories.ts';
import type { FeedItem, FeedPlace } from '../../../actors/feed/feedItem.ts';
import { decodeFeedPosition, encodeFeedPosition } from '../../../actors/feed/feedPosition.ts';
import { decodeFeedCursor, encodeFeedCursor } from '../../../actors/views/feed/feedCursor.ts';
import { createFeedIndex } from '../../../actors/views/feed/feedIndex.ts';
import {
  buildChainEvents,
  buildMeasurementEvents,
  feedChainId as chainId,
  createWindow,
  inFeedOrder,
  readingHistory,
  spanHistory,
} from '../../support/chain/feedEvents.ts';

describe('the order of the feed', () => {
  it('is by time and the contract’s tie-breakers; paging misses and repeats nothing while events arrive', () => {
    const walk = fc.record({
      spans: spanHistory(20),
      readings: readingHistory(20),
      /** Share of both sources' events at the start, and the number that arrives with each page. */
      share: fc.double({ min: 0, max: 1, noNaN: true }),
      perPage: fc.nat(4),
      limit: fc.integer({ min: 1, max: 7 }),
      category: fc.constantFrom(...feedCategories),
    });
    fc.assert(
      fc.property(walk, ({ spans, readings, share, perPage, limit, category }) => {
        const index = createFeedIndex(chainId, createEventChecks());
        const [measurements, chain] = [buildMeasurementEvents(readings), buildChainEvents(spans)];
        const arrived = <Event>(events: readonly Event[], more: number) =>
          events.slice(0, Math.floor(events.length * share) + more);
        /** Lets more events arrive; returns all that there are. */
        const take = (more: number) => {
          const [newer, ofChain] = [arrived(measurements, more), arrived(chain, more)];
          index.update({ measurement: createWindow(newer), chain: createWindow(ofChain) });
          const ids = index
            .olderThan(selectCategory(category), null, Number.MAX_SAFE_INTEGER)
            .map(({ id }) => id);
          const expected = inFeedOrder(newer, ofChain).filter(({ type }) => isOfCategory(category, type));
          expect(ids).toEqual(expected.map(({ id }) => id));
          return ids;
        };
        const before = take(0);
        const seen: string[] = [];
        let after: FeedPlace | null = null;
        for (let page = 1; page < 1_000; page++) {
          const items: readonly FeedItem[] = index.olderThan(selectCategory(category), after, limit);
          seen.push(...items.map(({ id }) => id));
          after = items.at(-1) ?? null;
          if (items.length < limit) break;
          take(page * perPage);
        }
        expect(new Set(seen).size).toBe(seen.length);
        expect(seen).toEqual(expect.arrayContaining(before));
      }),
      { numRuns: 200 },
    );
  });

  it('is rebuilt when a source goes back', () => {
    const index = createFeedIndex(chainId, createEventChecks());
    const block = (gapMs: number) => ({ gapMs, blocks: [[[true]]] });
    const first = buildChainEvents([block(10), block(10), block(10)]);
    const [kept] = first;
    if (kept === undefined) throw new Error('no event');
    const fork = buildChainEvents([block(40)], 4);
    const measurement = createWindow(
      buildMeasurementEvents([{ receivedAtMs: 15, distances: 0 }]).slice(0, 1),
    );
    const listTimes = (category: FeedCategory) =>
      index.olderThan(selectCategory(category), null, 10).map(({ recordedAtMs }) => recordedAtMs - 1_000);
    index.update({ measurement, chain: createWindow(first) });
    expect(listTimes('all')).toEqual([30, 20, 15, 10]);
    index.update({ measurement, chain: createWindow([kept, ...fork]) });
    expect(listTimes('all')).toEqual([40, 15, 10]);
    index.update({ measurement: createWindow([]), chain: createWindow(first) });
    expect(listTimes('all')).toEqual([30, 20, 10]);
    expect(listTimes('measurement')).toEqual([]);
  });
});

describe('cursors of the feed and IDs of the event stream', () => {
  const arrival = { position: fc.maxSafeNat(), ordinal: fc.maxSafeNat() };

  it('are decoded only as what they are, and only for their own category', () => {
    const source = fc.record({ run: fc.string({ maxLength: 40 }), ...arrival });
    const place = fc.record({
      recordedAtMs: fc.maxSafeInteger(),
      source: fc.constantFrom('chain' as const, 'measurement' as const),
      ...arrival,
    });
    const category = fc.constantFrom(...feedCategories);
    const position = fc.record({ measurement: source, chain: source });
    fc.assert(
      fc.property(position, place, category, category, (sources, at, of, asked) => {
        const cursor = encodeFeedCursor(of, at);
        expect(decodeFeedCursor(asked, cursor)).toEqual(of === asked ? at : null);
        expect(decodeFeedPosition(cursor)).toBeNull();
        const id = encodeFeedPosition(sources);
        expect(decodeFeedPosition(id)).toEqual(sources);
        expect(id).toMatch(/^[\w-]+$/);
        expect(decodeFeedCursor(asked, id)).toBeNull();
        expect([decodeFeedCursor(of, `${cursor}=`), decodeFeedPosition(`${id}=`)]).toEqual([null, null]);
      }),
    );
  });

  it('are not decoded from anything else', () => {
    const json = fc.json().map((text) => Buffer.from(text).toString('base64url'));
    fc.assert(
      fc.property(fc.oneof(fc.base64String(), fc.string(), json), (text) => {
        expect([decodeFeedCursor('all', text), decodeFeedPosition(text)]).toEqual([null, null]);
      }),
    );
  });
});
