import type { RecordView } from '../addresses/place.ts';
import type { FeedEvent, ReadBody } from './page.ts';
import { recordPath } from './resources.ts';

/** The events of a record, newest first, and of a transaction in the order of the chain; null if they cannot be read at the moment. */
export function listRecordEvents(view: RecordView, id: string, read: ReadBody): readonly FeedEvent[] | null {
  const body = read(view, recordPath(view, id));
  if (body === null || ('status' in body && body.status === 'unavailable')) return null;
  if ('error' in body) return [];
  // A day has figures even without a chain, and so without events.
  if ('events' in body) return body.events ?? [];
  return [body.round.checkpoint, body.round.settlement].filter((event) => event !== null);
}
