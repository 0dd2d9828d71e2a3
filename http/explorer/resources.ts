import type { Earlier, ListName, Place, RecordView } from '../addresses/place.ts';
import type { FeedEvent, ReadBody } from './page.ts';

/** A reader of bodies by path alone: each path here belongs to the route of its name. */
export const toReadBody = (read: (path: string) => unknown) => ((_name, path) => read(path)) as ReadBody;

export const statusPath = '/v1/status';
export const corePath = '/v1/core';
export const issuancePath = '/v1/mining/state';
export const statisticsPath = (range: string) => `/v1/measurement/stats?range=${range}`;
export const settlementsPath = (range: string) => `/v1/settlements?range=${range}`;
export const eventsPath = (category: string, cursor?: string) =>
  `/v1/events?category=${category}${cursor === undefined ? '' : `&cursor=${encodeURIComponent(cursor)}`}`;
export const metadataPath = (tokenId: string) => `/v1/miners/${tokenId}/metadata`;

/** Path of the route that shows a record. */
export const recordPath = (view: RecordView, id: string) => `/v1/${view}s/${encodeURIComponent(id)}`;

/** Paths of an owner’s two lists. One of them may be a further page. */
export function listOwnerPaths(address: string, earlier?: Earlier) {
  const path = (list: ListName, name: string) => {
    const cursor = earlier?.list === list ? `?cursor=${encodeURIComponent(earlier.cursor)}` : '';
    return `/v1/owners/${encodeURIComponent(address)}/${name}${cursor}`;
  };
  return { positions: path('positions', 'miners'), activity: path('activity', 'activity') };
}

/** Path of the route with most of what a page shows; null without one. */
export function findMainPath(place: Place): string | null {
  if ('id' in place) return recordPath(place.view, place.id);
  switch (place.view) {
    case 'glance':
    case 'status':
      return statusPath;
    case 'statistics':
      return statisticsPath(place.range);
    case 'settlements':
      return settlementsPath(place.range);
    case 'owners':
      return place.address === null ? '/v1/owners' : listOwnerPaths(place.address, place.earlier).positions;
    case 'feed':
      return eventsPath(place.category, place.earlier?.cursor);
    default:
      return null;
  }
}

/** The events of a record, newest first, and of a transaction in the order of the chain; null if they cannot be read at the moment. */
export function listRecordEvents(view: RecordView, id: string, read: ReadBody): readonly FeedEvent[] | null {
  const body = read(view, recordPath(view, id));
  if (body === null || ('status' in body && body.status === 'unavailable')) return null;
  if ('error' in body) return [];
  // A day has figures even without a chain, and so without events.
  if ('events' in body) return body.events ?? [];
  return [body.round.checkpoint, body.round.settlement].filter((event) => event !== null);
}
