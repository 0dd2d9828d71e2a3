import { z } from 'zod';
import { findPlace } from '../addresses/findPlace.ts';
import { readKnown } from '../addresses/knownRecords.ts';
import { formatPlace, type Place } from '../addresses/place.ts';
import { eventPath } from '../addresses/recordPaths.ts';
import type { Known } from '../addresses/search.ts';
import { searchKinds, searchResponse } from '../responses/records/search.ts';
import { noCache } from './cacheControl.ts';
import { defineRoute, type Route } from './route.ts';

const text = z.string().min(1).max(200);

const searchRoute = defineRoute({
  path: '/v1/search',
  operationId: 'search',
  summary: 'What a text stands for: an address, a hash, a number, a date or an ID',
  topic: 'events',
  rateClass: 'publicFast',
  query: [
    {
      name: 'q',
      description: 'An address, a transaction, an event’s ID, a number, a date, or `yesterday`',
      schema: text.meta({ examples: ['yesterday'] }),
      isRequired: true,
    },
  ],
  cacheControl: noCache,
  errors: ['invalid_query'],
  response: searchResponse,
  read: ({ views }, { parameters }) => {
    const asked = parameters.get('q') as string; // It is required.
    const place = findLast('/search', `q=${encodeURIComponent(asked)}`, () =>
      readKnown(views, views.process().generatedAtMs),
    );
    const event = eventPath.parse(asked.trim());
    const [reason, places] = place.view === 'missing' ? [place.reason, place.others] : [null, [place]];
    const body = { installationId: views.publicInstallationId, query: asked, reason };
    const results =
      event === null ? places.flatMap(describeResult) : places.map((one) => describeEvent(event, one));
    return { body: { schemaVersion: 1 as const, ...body, results } };
  },
});

/** The place to which an address leads in the end. */
function findLast(path: string, query: string, known: () => Known): Place {
  const found = findPlace(path, query, known);
  if (typeof found !== 'string') return found;
  const [next = '', parameters = ''] = found.split('?');
  return findLast(next, parameters, known);
}

/** An event has no page of its own: its place is its transaction, or the feed. */
function describeEvent(id: string, place: Place) {
  const route = `/v1/events/${encodeURIComponent(id)}`;
  return { kind: 'event' as const, id, route, page: formatPlace(place) };
}

function describeResult(place: Place) {
  const kind = place.view === 'owners' ? 'owner' : searchKinds.find((one) => one === place.view);
  const id = 'id' in place ? place.id : place.view === 'owners' ? place.address : null;
  if (kind === undefined || id === null) return [];
  const route = kind === 'owner' ? `/v1/owners/${id}/miners` : `/v1/${kind}s/${id}`;
  return [{ kind, id, route, page: formatPlace(place) }];
}

export const searchRoutes: readonly Route[] = [searchRoute];
