import { z } from 'zod';
import { type FeedRequest, feedCategories } from '../../actors/views/feed/feedViews.ts';
import type { ActorViews } from '../../actors/views/views.ts';
import { eventsResponse, feedCategory, toEventsBody } from '../responses/feed/events.ts';
import { cursor } from '../responses/observations.ts';
import { noStore } from './cacheControl.ts';
import { describeUnreadable } from './describeUnreadable.ts';
import { parseExactQuery, parsePageLimit } from './parseExactQuery.ts';
import { defineReadRoute, type QueryParameter, type ReadResult, type Route } from './route.ts';

/** Page size of the feed (CONTRACT.md, Event feed). */
export const feedPageDefault = 40;

const query: readonly QueryParameter[] = [
  {
    name: 'category',
    description: 'Category of the events',
    schema: feedCategory.meta({ default: 'all' }),
  },
  {
    name: 'limit',
    description: 'Page size, 1-100',
    schema: z.int().min(1).max(100).meta({ default: feedPageDefault }),
  },
  {
    name: 'cursor',
    description: 'The `nextCursor` of the previous page with the same category; omit for the first page',
    schema: cursor,
  },
];

function parseFeedRequest(search: URLSearchParams): FeedRequest | null {
  const parameters = parseExactQuery(search, ['category', 'limit', 'cursor']);
  const category = feedCategories.find((one) => one === (parameters?.get('category') ?? 'all'));
  const limit = parsePageLimit(parameters?.get('limit'), feedPageDefault);
  const from = parameters?.get('cursor') ?? null;
  if (parameters === null || category === undefined || limit === null) return null;
  if (from !== null && !cursor.safeParse(from).success) return null;
  return { category, limit, cursor: from };
}

function read(
  { views }: { views: ActorViews },
  { query: search, signal }: { query: URLSearchParams; signal: AbortSignal },
): ReadResult<z.infer<typeof eventsResponse>> | Promise<ReadResult<z.infer<typeof eventsResponse>>> {
  const request = parseFeedRequest(search);
  if (request === null) return { error: 'invalid_query' };
  const result = views.feed.page(request, signal);
  if (result instanceof Promise) return result.then((page) => ({ body: toEventsBody(page) }));
  return 'fault' in result ? { error: 'invalid_cursor' } : { body: toEventsBody(result) };
}

const members = {
  summary: 'Events of the chain and milestones of the wheel, newest first',
  topic: 'events',
  rateClass: 'publicHeavy',
  query,
  cacheControl: noStore,
  errors: ['invalid_query', 'invalid_cursor'],
  response: eventsResponse,
  read,
  inputs: ({ feed }: ActorViews) => feed.inputs(),
  unavailable: (views: ActorViews) => toEventsBody(describeUnreadable(views)),
} as const;

/** The event feed, identical on the public and the plain route. */
export const eventRoutes: readonly Route[] = [
  defineReadRoute({ ...members, path: '/v1/events', operationId: 'getEvents' }),
  defineReadRoute({ ...members, path: '/v2/public/events', operationId: 'getPublicEvents' }),
];
