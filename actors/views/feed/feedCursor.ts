import { z } from 'zod';
import { type FeedCategory, feedCategories } from '../../feed/feedCategories.ts';
import type { FeedPlace } from '../../feed/feedItem.ts';
import { feedSources } from '../../feed/feedPosition.ts';
import { decodeFields, encodeFields } from '../../opaqueCursor.ts';

/** Where the next page of a category begins: after this place, whatever has arrived before it since. */
export function encodeFeedCursor(category: FeedCategory, place: FeedPlace): string {
  const { recordedAtMs, source, position, ordinal } = place;
  return encodeFields([category, recordedAtMs, source, position, ordinal]);
}

const cursorFields = z.tuple([z.enum(feedCategories), z.int(), z.enum(feedSources), z.int(), z.int()]);

/** Null for an invalid cursor, and for one of another category. */
export function decodeFeedCursor(category: FeedCategory, text: string): FeedPlace | null {
  const fields = decodeFields(text, cursorFields);
  if (fields === null || fields[0] !== category) return null;
  const [, recordedAtMs, source, position, ordinal] = fields;
  return { recordedAtMs, source, position, ordinal };
}
