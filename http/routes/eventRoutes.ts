import { z } from 'zod';
import type { EventFilter } from '../../actors/feed/eventFilter.ts';
import type { EventNoun } from '../../actors/feed/eventKeys.ts';
import { type FeedCategory, type FeedType, feedTypes } from '../../actors/feed/feedItem.ts';
import { listKeys } from '../../actors/schemas/listKeys.ts';
import type { ActorViews } from '../../actors/views/actorViews.ts';
import { parseOwner } from '../addresses/ownerAddress.ts';
import { eventsResponse, feedCategory, toEventsBody } from '../responses/feed/events.ts';
import { noStore } from './cacheControl.ts';
import { listPageParameters, listTimeParameters, pageDefault, readPage, readTimes } from './parameters.ts';
import {
  defineRoute,
  describeUnreadable,
  type Parameters,
  type QueryParameter,
  type ReadRoute,
  type Route,
} from './route.ts';

/** Most owners, and most miners, that one request may name. */
const namedMax = 20;
const listOf = (pattern: string) =>
  z.string().regex(new RegExp(`^${pattern}(?:,${pattern}){0,${namedMax - 1}}$`));

/** A query parameter that names things which events must be about. */
interface NounParameter extends QueryParameter {
  /** Returns alternatives for a value of the schema; null if it is invalid even so. */
  readonly parse: (value: string) => readonly EventNoun[] | null;
}

const typeParameter: QueryParameter = {
  name: 'type',
  description: 'Type of the events; a type of another category than `category` finds none',
  schema: z.enum(listKeys(feedTypes)).meta({ id: 'GetEventsType' }),
};

const nounParameters: readonly NounParameter[] = [
  {
    name: 'owner',
    description: `Owner who minted, merged or claimed, or up to ${namedMax} owners with commas between them`,
    schema: listOf('0x[0-9a-fA-F]{40}').meta({ examples: ['0x9965507d1a55bcc2695c58ba16fb37d819b0a4dc'] }),
    parse: (value) => {
      const owners = value.split(',').map(parseOwner);
      const nouns = owners.flatMap((address) =>
        address === null ? [] : [{ kind: 'owner', address } as const],
      );
      return nouns.length === owners.length ? nouns : null;
    },
  },
  {
    name: 'tokenId',
    description: `Miner of the events, or up to ${namedMax} miners with commas between them`,
    schema: listOf('[1-9][0-9]{0,3}').meta({ examples: ['7'] }),
    parse: (value) => value.split(',').map((id) => ({ kind: 'miner', tokenId: BigInt(id) })),
  },
  {
    name: 'transaction',
    description: 'Hash of the transaction that emitted the events',
    schema: z.string().regex(/^0x[0-9a-f]{64}$/),
    parse: (hash) => [{ kind: 'transaction', hash }],
  },
  {
    name: 'ethereumBlock',
    description: 'Number of the Ethereum block of the events',
    schema: z.string().regex(/^(?:0|[1-9]\d{0,14})$/),
    parse: (number) => [{ kind: 'ethereumBlock', number: BigInt(number) }],
  },
];

/** The events that a query asks for. @returns null if a value is invalid although its schema accepts it. */
function parseFilter(parameters: Parameters): EventFilter | null {
  const nouns: (readonly EventNoun[])[] = [];
  for (const { name, parse } of nounParameters) {
    const value = parameters.get(name);
    const found = value === undefined ? [] : parse(value);
    if (found === null) return null;
    if (found.length > 0) nouns.push(found);
  }
  // The schemas have checked category and type.
  const category = (parameters.get('category') ?? 'all') as FeedCategory;
  const type = (parameters.get('type') ?? null) as FeedType | null;
  return { category, type, nouns, ...readTimes(parameters) };
}

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
      const filter = parseFilter(parameters);
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
    query: [
      ...parameters,
      typeParameter,
      ...nounParameters,
      ...listTimeParameters('events with `recordedAt`'),
    ],
  }),
  defineFeedRoute({ path: '/v2/public/events', operationId: 'getPublicEvents', query: parameters }),
];
