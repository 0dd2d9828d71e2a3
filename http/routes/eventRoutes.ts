import { feedCategories } from '../../actors/feed/feedCategories.ts';
import type { FeedRequest } from '../../actors/views/feed/feedViews.ts';
import type { ActorViews } from '../../actors/views/views.ts';
import { eventsResponse, feedCategory, toEventsBody } from '../responses/feed/events.ts';
import { cursor } from '../responses/pages.ts';
import { noStore } from './cacheControl.ts';
import { describeUnreadable } from './describeUnreadable.ts';
import { filterParameters, parseFilter } from './feedFilter.ts';
import { limitParameter, parsePage } from './pageParameters.ts';
import { defineReadRoute, type QueryParameter, type ReadRoute, type Route } from './route.ts';

const pageParameters: readonly QueryParameter[] = [
  {
    name: 'category',
    description: 'Category of the events',
    schema: feedCategory.meta({ default: 'all' }),
  },
  limitParameter,
  {
    name: 'cursor',
    description: 'The `nextCursor` of the previous page with the same category; omit for the first page',
    schema: cursor,
  },
];

/** @param names of the parameters that the route has. */
function parseFeedRequest(search: URLSearchParams, names: readonly string[]): FeedRequest | null {
  const page = parsePage(search, names);
  const category = feedCategories.find((one) => one === (page?.parameters.get('category') ?? 'all'));
  if (page === null || category === undefined) return null;
  const filter = parseFilter(category, page.parameters);
  return filter === null ? null : { filter, limit: page.limit, cursor: page.cursor };
}

/** A route of the feed. Its pages are the same with the same parameters. */
function defineFeedRoute(
  entry: Pick<ReadRoute, 'path' | 'operationId'> & { readonly query: readonly QueryParameter[] },
): Route {
  const names = entry.query.map(({ name }) => name);
  return defineReadRoute({
    ...entry,
    summary: 'Events of the chain and milestones of the wheel, newest first',
    topic: 'events',
    rateClass: 'publicHeavy',
    cacheControl: noStore,
    errors: ['invalid_query', 'invalid_cursor'],
    response: eventsResponse,
    read: ({ views }, { query: search, signal }) => {
      const request = parseFeedRequest(search, names);
      if (request === null) return { error: 'invalid_query' };
      const result = views.feed.page(request, signal);
      if (result instanceof Promise) return result.then((page) => ({ body: toEventsBody(page) }));
      return 'fault' in result ? { error: 'invalid_cursor' } : { body: toEventsBody(result) };
    },
    inputs: ({ feed }: ActorViews) => feed.inputs(),
    unavailable: (views: ActorViews) => toEventsBody(describeUnreadable(views)),
  });
}

export const eventRoutes: readonly Route[] = [
  defineFeedRoute({
    path: '/v1/events',
    operationId: 'getEvents',
    query: [...pageParameters, ...filterParameters],
  }),
  defineFeedRoute({ path: '/v2/public/events', operationId: 'getPublicEvents', query: pageParameters }),
];
