import type { FeedCategory } from '../../actors/feed/feedCategories.ts';
import type { ActorViews } from '../../actors/views/views.ts';
import { eventsResponse, feedCategory, toEventsBody } from '../responses/feed/events.ts';
import { noStore } from './cacheControl.ts';
import { describeUnreadable } from './describeUnreadable.ts';
import { filterParameters, parseFilter } from './feedFilter.ts';
import { listPageParameters, pageDefault, readPage } from './pageParameters.ts';
import { defineRoute, type QueryParameter, type ReadRoute, type Route } from './route.ts';

const [limit, cursor] = listPageParameters(pageDefault, 'category');
const parameters: readonly QueryParameter[] = [
  {
    name: 'category',
    description: 'Category of the events',
    schema: feedCategory.meta({ default: 'all' }),
  },
  limit,
  cursor,
];

/** A route of the feed. Its pages are the same with the same parameters. */
function defineFeedRoute(
  entry: Pick<ReadRoute, 'path' | 'operationId'> & { readonly query: readonly QueryParameter[] },
): Route {
  return defineRoute({
    ...entry,
    summary: 'Events of the chain and milestones of the wheel, newest first',
    topic: 'events',
    rateClass: 'publicHeavy',
    cacheControl: noStore,
    errors: ['invalid_query', 'invalid_cursor'],
    response: eventsResponse,
    read: ({ views }, { parameters, signal }) => {
      // The schema has checked it.
      const filter = parseFilter((parameters.get('category') ?? 'all') as FeedCategory, parameters);
      if (filter === null) return { error: 'invalid_query' };
      const result = views.feed.page({ filter, ...readPage(parameters) }, signal);
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
    query: [...parameters, ...filterParameters],
  }),
  defineFeedRoute({ path: '/v2/public/events', operationId: 'getPublicEvents', query: parameters }),
];
