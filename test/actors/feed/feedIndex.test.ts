import fc from 'fast-check';
import { List } from 'immutable';
import { describe, expect, it } from 'vitest';
import type { ChainFeedEvent } from '../../../actors/chain/chainState.ts';
import { decodeFeedCursor, encodeFeedCursor } from '../../../actors/feed/feedCursor.ts';
import {
  createFeedIndex,
  type FeedCategory,
  type FeedItem,
  type FeedPlace,
  feedCategories,
} from '../../../actors/feed/feedIndex.ts';
import { nothingGivenUp } from '../../../actors/feed/heldEvents.ts';
import type { MeasurementEvent } from '../../../actors/feed/measurementEvents.ts';
import { chained, measured } from '../../support/feedEvents.ts';

const chainId = 31_337n;

function held<Event>(events: Iterable<Event>) {
  return { events: List(events), givenUp: nothingGivenUp };
}

/** Events that arrive together; measurements may be stamped earlier than what is there. */
const arrival = fc.record({
  measurements: fc.array(fc.nat(50), { maxLength: 3 }),
  chain: fc.array(fc.record({ gap: fc.nat(5), isMint: fc.boolean() }), { maxLength: 4 }),
});

describe('the order of the feed', () => {
  it('lets a walk through the pages miss and repeat nothing, whatever arrives meanwhile', () => {
    const walk = fc.record({
      before: fc.array(arrival, { maxLength: 30 }),
      during: fc.array(arrival, { maxLength: 10 }),
      limit: fc.integer({ min: 1, max: 7 }),
      category: fc.constantFrom(...feedCategories),
    });
    fc.assert(
      fc.property(walk, ({ before, during, limit, category }) => {
        const index = createFeedIndex({ chainId });
        let measurement = List<MeasurementEvent>();
        let chain = List<ChainFeedEvent>();
        let number = 0;
        let nowMs = 0;
        const take = (arrived: (typeof before)[number]) => {
          measurement = measurement.concat(arrived.measurements.map((atMs) => measured(++number, atMs)));
          for (const { gap, isMint } of arrived.chain) {
            nowMs += gap;
            chain = chain.push(chained(++number, nowMs, isMint));
          }
          index.update({ measurement: held(measurement), chain: held(chain) });
        };
        for (const arrived of before) take(arrived);
        const there = idsOf(index, category);
        const seen: string[] = [];
        let after: FeedPlace | null = null;
        for (let page = 0; ; page++) {
          const items: readonly FeedItem[] = index.olderThan(category, after, limit);
          seen.push(...items.map(({ id }) => id));
          after = items.at(-1) ?? null;
          if (items.length < limit) break;
          const arrived = during[page];
          if (arrived !== undefined) take(arrived);
        }
        expect(new Set(seen).size).toBe(seen.length);
        expect(seen).toEqual(expect.arrayContaining(there));
        // And it is the order of the design: by time, newest first, ties by ID.
        const all = index.olderThan(category, null, Number.MAX_SAFE_INTEGER);
        const sorted = all.toSorted((a, b) => b.recordedAtMs - a.recordedAtMs || (a.id < b.id ? -1 : 1));
        expect(all.map(({ id }) => id)).toEqual(sorted.map(({ id }) => id));
      }),
      { numRuns: 1_000 },
    );
  });

  it('is made anew when a source goes back', () => {
    const index = createFeedIndex({ chainId });
    const first = [chained(1, 10, true), chained(2, 20, false), chained(3, 30, true)] as const;
    const measurement = held([measured(9, 15)]);
    index.update({ measurement, chain: held(first) });
    index.update({ measurement, chain: held([first[0], chained(4, 40, true)]) });
    const items = index.olderThan('all', null, 10);
    expect(items.map(({ recordedAtMs }) => recordedAtMs)).toEqual([40, 15, 10]);
    index.update({ measurement: held([]), chain: held(first) });
    expect(index.olderThan('all', null, 10).map(({ recordedAtMs }) => recordedAtMs)).toEqual([30, 20, 10]);
    expect(index.olderThan('measurement', null, 10)).toEqual([]);
  });
});

function idsOf(index: ReturnType<typeof createFeedIndex>, category: FeedCategory): string[] {
  return index.olderThan(category, null, Number.MAX_SAFE_INTEGER).map(({ id }) => id);
}

describe('a cursor of the feed', () => {
  it('comes back as it was, for its own category alone', () => {
    const place = fc.record({
      recordedAtMs: fc.maxSafeInteger(),
      id: fc.string({ minLength: 1, maxLength: 300 }),
    });
    fc.assert(
      fc.property(
        place,
        fc.constantFrom(...feedCategories),
        fc.constantFrom(...feedCategories),
        (at, of, asked) => {
          const cursor = encodeFeedCursor(of, at);
          expect(decodeFeedCursor(asked, cursor)).toEqual(of === asked ? at : null);
        },
      ),
    );
  });

  it('is none of anything else', () => {
    fc.assert(
      fc.property(
        fc.oneof(
          fc.base64String(),
          fc.string(),
          fc.json().map((json) => Buffer.from(json).toString('base64url')),
        ),
        (text) => {
          expect(decodeFeedCursor('all', text)).toBeNull();
        },
      ),
    );
  });
});
