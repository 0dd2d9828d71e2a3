import { ownerPageDefault } from '../../actors/chain/rows/activityRows.ts';
import type { ActorViews } from '../../actors/views/actorViews.ts';
import type { CursorFault } from '../../actors/views/chain/ownerViews.ts';
import type { ChainUnavailable } from '../../actors/views/chain/shownStates.ts';
import type { WeightPageRequest } from '../../actors/views/chain/weightViews.ts';
import { findEventsOf, newestEventsMax } from '../../actors/views/feed/feedRecords.ts';
import { minerPath } from '../addresses/recordPaths.ts';
import {
  minerResponse,
  minersResponse,
  ownersResponse,
  toMinerBody,
  toMinersBody,
  toOwnersBody,
} from '../responses/records/miners.ts';
import { noCache } from './cacheControl.ts';
import { pageParameters, readPage } from './parameters.ts';
import { defineRoute, describeUnreadable, type ReadRequest, type Route, type RouteSources } from './route.ts';

/** Reads pages of a list by weight. */
function listByWeight<View extends { readonly status: string }, Body>(
  load: (
    views: ActorViews,
    page: WeightPageRequest,
  ) => View | ChainUnavailable | { readonly fault: CursorFault },
  toBody: (view: View | ChainUnavailable) => Body,
) {
  return {
    read: ({ views }: RouteSources, { parameters }: ReadRequest) => {
      const view = load(views, readPage(parameters));
      return 'fault' in view ? ({ error: 'invalid_cursor' } as const) : { body: toBody(view) };
    },
    unavailable: (views: ActorViews) => toBody(describeUnreadable(views)),
  };
}

const members = {
  topic: 'rewards',
  rateClass: 'publicHeavy',
  cacheControl: noCache,
  query: pageParameters,
  errors: ['invalid_query', 'invalid_cursor'],
  inputs: ({ chain }: ActorViews) => [chain.economy()],
} as const;

const miner = defineRoute({
  ...members,
  path: '/v1/miners/{tokenId}',
  operationId: 'getMiner',
  summary: 'One miner: its owner, weight, rewards, transfers and events, or what it was merged into',
  pathParameter: minerPath,
  query: 'none',
  errors: ['invalid_path', 'invalid_query', 'not_found'],
  response: minerResponse,
  read: async ({ views }, { pathValue, signal }) => {
    const { chain, feed } = views;
    const view = chain.miner(Number(pathValue));
    if (view.status === 'unavailable') return { body: toMinerBody(view) };
    const owner = view.live?.owner;
    const [found, activity] = await Promise.all([
      findEventsOf(feed, { kind: 'miner', tokenId: view.tokenId }, signal, newestEventsMax),
      owner === undefined
        ? null
        : chain.ownerActivity({ owner, limit: ownerPageDefault, cursor: null }, signal),
    ]);
    if (found.status === 'unavailable') return { body: toMinerBody(describeUnreadable(views)) };
    if (!view.isCreated && found.events.length === 0) return { error: 'not_found' };
    if (activity === null) return { body: toMinerBody({ ...view, found, activity: [] }) };
    if ('fault' in activity || activity.status === 'unavailable')
      return { body: toMinerBody(describeUnreadable(views)) };
    return { body: toMinerBody({ ...view, found, activity: activity.activity }) };
  },
  unavailable: (views) => toMinerBody(describeUnreadable(views)),
});

const miners = defineRoute({
  ...members,
  path: '/v1/miners',
  operationId: 'getMiners',
  summary: 'All live miners by weight, the heaviest first',
  response: minersResponse,
  ...listByWeight(({ chain }, page) => chain.miners(page), toMinersBody),
});

const owners = defineRoute({
  ...members,
  path: '/v1/owners',
  operationId: 'getOwners',
  summary: 'All owners of live miners by weight, the heaviest first',
  response: ownersResponse,
  ...listByWeight(({ chain }, page) => chain.owners(page), toOwnersBody),
});

export const minerRoutes: readonly Route[] = [miner, miners, owners];
