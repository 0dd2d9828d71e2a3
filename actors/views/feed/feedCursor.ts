import type { FeedCategory } from '../../feed/feedCategories.ts';
import type { FeedPlace } from '../../feed/feedItem.ts';
import { feedSources } from '../../feed/feedPosition.ts';
import { decodeFields, encodeFields } from '../../opaqueCursor.ts';

/** Where the next page of a category begins: after this place, whatever has arrived before it since. */
export function encodeFeedCursor(category: FeedCategory, place: FeedPlace): string {
  const { recordedAtMs, source, position, ordinal } = place;
  return encodeFields([category, recordedAtMs, source, position, ordinal]);
}

/** Null for an invalid cursor, and for one of another category. */
export function decodeFeedCursor(category: FeedCategory, text: string): FeedPlace | null {
  const [of, recordedAtMs, from, position, ordinal] = decodeFields(text, 5) ?? [];
  const source = feedSources.find((one) => one === from);
  if (of !== category || source === undefined) return null;
  if (!isSafe(recordedAtMs) || !isSafe(position) || !isSafe(ordinal)) return null;
  return { recordedAtMs, source, position, ordinal };
}

function isSafe(value: unknown): value is number {
  return Number.isSafeInteger(value);
}
