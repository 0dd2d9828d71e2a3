import { decodeFields, encodeFields } from '../opaqueCursor.ts';
import type { FeedCategory, FeedPlace } from './feedIndex.ts';

/** Where the next page of a category begins: behind this place, whatever has come in front of it. */
export function encodeFeedCursor(category: FeedCategory, { recordedAtMs, id }: FeedPlace): string {
  return encodeFields([category, recordedAtMs, id]);
}

/** Null for anything that {@link encodeFeedCursor} has not made, and for a cursor of another category. */
export function decodeFeedCursor(category: FeedCategory, text: string): FeedPlace | null {
  const [of, recordedAtMs, id] = decodeFields(text, 3) ?? [];
  if (of !== category || !Number.isSafeInteger(recordedAtMs) || typeof id !== 'string') return null;
  return { recordedAtMs: recordedAtMs as number, id };
}
