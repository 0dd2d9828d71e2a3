import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { decodeFeedCursor, encodeFeedCursor, feedCategories } from '../../../actors/feed/feedItem.ts';
import { decodeFeedPosition, encodeFeedPosition } from '../../../actors/feed/feedPosition.ts';

describe('cursors of the feed and IDs of the event stream', () => {
  const arrival = { position: fc.maxSafeNat(), ordinal: fc.maxSafeNat() };

  it('are decoded only as what they are, and only for their own category', () => {
    const timeMs = fc.maxSafeInteger();
    const source = fc.option(fc.record({ streamCreatedMs: timeMs, storedAtMs: timeMs, ...arrival }));
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
