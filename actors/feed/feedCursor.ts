import type { FeedCategory, FeedPlace } from './feedIndex.ts';

const version = 1;

/** Where the next page of a category begins: behind this place, whatever has come in front of it. */
export function encodeFeedCursor(category: FeedCategory, { recordedAtMs, id }: FeedPlace): string {
  return Buffer.from(JSON.stringify([version, category, recordedAtMs, id])).toString('base64url');
}

/** Null for anything that {@link encodeFeedCursor} has not made, and for a cursor of another category. */
export function decodeFeedCursor(category: FeedCategory, text: string): FeedPlace | null {
  let fields: unknown;
  try {
    fields = JSON.parse(Buffer.from(text, 'base64url').toString('utf8'));
  } catch {
    return null;
  }
  if (!Array.isArray(fields) || fields.length !== 4 || fields[0] !== version) return null;
  const [, of, recordedAtMs, id] = fields as unknown[];
  if (of !== category) return null;
  if (!Number.isSafeInteger(recordedAtMs) || typeof id !== 'string') return null;
  const place = { recordedAtMs: recordedAtMs as number, id };
  return encodeFeedCursor(category, place) === text ? place : null;
}
