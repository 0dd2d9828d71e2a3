import { z } from 'zod';
import type { Arrival } from '../events/arrival.ts';
import type { FoldedMessage } from '../folds/foldedMessage.ts';
import { count, milliseconds } from '../schemas/stateScalars.ts';
import { type FeedSource, feedSources } from './feedItem.ts';
import { decodeFields, encodeFields } from './opaqueCursor.ts';

/** The event of a source that a client of the event stream was sent last. With the time of storage, another event that has its place is told apart. */
export interface SourcePlace extends Arrival, Omit<FoldedMessage, 'position'> {}

/** A client's place in the event stream; null for a source with no event sent yet. */
export type FeedPosition = Readonly<Record<FeedSource, SourcePlace | null>>;

/** ID of a message of the event stream. */
export function encodeFeedPosition(position: FeedPosition): string {
  const places = feedSources.map((source) => {
    const place = position[source];
    if (place === null) return null;
    return [place.streamCreatedMs, place.position, place.ordinal, place.storedAtMs] as const;
  });
  return encodeFields(places);
}

const placeFields = z.tuple([milliseconds, count, count, milliseconds]).nullable();
const positionFields = z.tuple([placeFields, placeFields]);

/** Null for a text that no message has as its ID. */
export function decodeFeedPosition(text: string): FeedPosition | null {
  const fields = decodeFields(text, positionFields);
  if (fields === null) return null;
  const [measurement, chain] = fields.map((place): SourcePlace | null => {
    if (place === null) return null;
    const [streamCreatedMs, position, ordinal, storedAtMs] = place;
    return { streamCreatedMs, position, ordinal, storedAtMs };
  });
  return { measurement: measurement ?? null, chain: chain ?? null };
}
