import { z } from 'zod';
import { type FeedCategory, feedCategories } from '../../feed/feedCategories.ts';
import type { FeedPlace } from '../../feed/feedItem.ts';
import { feedSources } from '../../feed/feedPosition.ts';
import { decodeFields, encodeFields } from '../../feed/opaqueCursor.ts';

/** Cursor of a category's next page, which begins after this place even if events have arrived before it since. */
export function encodeFeedCursor(category: FeedCategory, place: FeedPlace): string {
  const { recordedAtMs, source, position, ordinal } = place;
  return encodeFields([category, recordedAtMs, source, position, ordinal]);
}

const cursorFields = z.tuple([z.enum(feedCategories), z.int(), z.enum(feedSources), z.int(), z.int()]);

/** Null for an invalid cursor or another category's cursor. */
export function decodeFeedCursor(category: FeedCategory, text: string): FeedPlace | null {
  const fields = decodeFields(text, cursorFields);
  if (fields === null || fields[0] !== category) return null;
  const [, recordedAtMs, source, position, ordinal] = fields;
  return { recordedAtMs, source, position, ordinal };
}
