import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { decodeStreamPosition, encodeStreamPosition } from '../../../actors/feed/streamPosition.ts';
import { decodeFeedCursor, encodeFeedCursor } from '../../../actors/views/feedCursor.ts';
import {
  createFeedIndex,
  type FeedCategory,
  type FeedItem,
  type FeedPlace,
  feedCategories,
  isOfCategory,
} from '../../../actors/views/feedIndex.ts';
import {
  chainEventsOf,
  feedChainId as chainId,
  held,
  inFeedOrder,
  measurementEventsOf,
  readingHistory,
  spanHistory,
} from '../../support/chain/feedEvents.ts';

describe('the order of the feed', () => {
  it('is by time, then as the feed order settles ties, and a walk misses and repeats nothing, whatever arrives meanwhile', () => {
    const walk = fc.record({
      spans: spanHistory(20),
      readings: readingHistory(20),
      /** Of both sources, how many events are there when the walk begins, and how many come with each page. */
      share: fc.double({ min: 0, max: 1, noNaN: true }),
      perPage: fc.nat(4),
      limit: fc.integer({ min: 1, max: 7 }),
      category: fc.constantFrom(...feedCategories),
    });
    fc.assert(
      fc.property(walk, ({ spans, readings, share, perPage, limit, category }) => {
        const index = createFeedIndex({ chainId });
        const [measurements, chain] = [measurementEventsOf(readings), chainEventsOf(spans)];
        const there = [measurements, chain].map(({ length }) => Math.floor(length * share)) as [
          number,
          number,
        ];
        const take = (more: number) =>
          index.update({
            measurement: held(measurements.slice(0, there[0] + more)),
            chain: held(chain.slice(0, there[1] + more)),
          });
        const expected = (more: number) =>
          inFeedOrder(measurements.slice(0, there[0] + more), chain.slice(0, there[1] + more))
            .filter(({ type }) => isOfCategory(category, type))
            .map(({ id }) => id);
        take(0);
        const before = idsOf(index, category);
        expect(before).toEqual(expected(0));
        const seen: string[] = [];
        let after: FeedPlace | null = null;
        for (let page = 1; ; page++) {
          const items: readonly FeedItem[] = index.olderThan(category, after, limit);
          seen.push(...items.map(({ id }) => id));
          after = items.at(-1) ?? null;
          if (items.length < limit) break;
          take(page * perPage);
          expect(idsOf(index, category)).toEqual(expected(page * perPage));
        }
        expect(new Set(seen).size).toBe(seen.length);
        expect(seen).toEqual(expect.arrayContaining(before));
      }),
      { numRuns: 500 },
    );
  });

  it('is made anew when a source goes back', () => {
    const index = createFeedIndex({ chainId });
    const block = (gapMs: number) => ({ gapMs, blocks: [[[true]]] });
    const first = chainEventsOf([block(10), block(10), block(10)]);
    const [kept] = first;
    if (kept === undefined) throw new Error('no event');
    const fork = chainEventsOf([block(40)], 4);
    const measurement = held(measurementEventsOf([{ receivedAtMs: 15, distances: 0 }]).slice(0, 1));
    const timesOf = (category: FeedCategory) =>
      index.olderThan(category, null, 10).map(({ recordedAtMs }) => recordedAtMs - 1_000);
    index.update({ measurement, chain: held(first) });
    expect(timesOf('all')).toEqual([30, 20, 15, 10]);
    index.update({ measurement, chain: held([kept, ...fork]) });
    expect(timesOf('all')).toEqual([40, 15, 10]);
    index.update({ measurement: held([]), chain: held(first) });
    expect(timesOf('all')).toEqual([30, 20, 10]);
    expect(timesOf('measurement')).toEqual([]);
  });
});

function idsOf(index: ReturnType<typeof createFeedIndex>, category: FeedCategory): string[] {
  return index.olderThan(category, null, Number.MAX_SAFE_INTEGER).map(({ id }) => id);
}

const garbage = fc.oneof(
  fc.base64String(),
  fc.string(),
  fc.json().map((json) => Buffer.from(json).toString('base64url')),
);
const arrival = { position: fc.maxSafeNat(), ordinal: fc.maxSafeNat() };

describe('a cursor of the feed', () => {
  it('comes back as it was, for its own category alone', () => {
    const place = fc.record({
      recordedAtMs: fc.maxSafeInteger(),
      source: fc.constantFrom('chain' as const, 'measurement' as const),
      ...arrival,
    });
    const category = fc.constantFrom(...feedCategories);
    fc.assert(
      fc.property(place, category, category, (at, of, asked) => {
        const cursor = encodeFeedCursor(of, at);
        expect(decodeFeedCursor(asked, cursor)).toEqual(of === asked ? at : null);
        expect(decodeStreamPosition(cursor)).toBeNull();
      }),
    );
  });

  it('is none of anything else', () => {
    fc.assert(
      fc.property(garbage, (text) => {
        expect(decodeFeedCursor('all', text)).toBeNull();
        expect(decodeStreamPosition(text)).toBeNull();
      }),
    );
  });
});

describe('an ID of the event stream', () => {
  it('comes back as it was, and is no cursor of a page', () => {
    const source = fc.record({ run: fc.string({ maxLength: 40 }), ...arrival });
    fc.assert(
      fc.property(fc.record({ measurement: source, chain: source }), (position) => {
        const id = encodeStreamPosition(position);
        expect(decodeStreamPosition(id)).toEqual(position);
        expect(id).toMatch(/^[\w-]+$/);
        for (const category of feedCategories) expect(decodeFeedCursor(category, id)).toBeNull();
      }),
    );
  });
});
