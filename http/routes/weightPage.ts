import type { CursorFault } from '../../actors/views/chain/ownerViews.ts';
import type { WeightPageRequest } from '../../actors/views/chain/weightViews.ts';
import type { ActorViews } from '../../actors/views/views.ts';
import { noCache } from './cacheControl.ts';
import { pageParameters, readPage } from './pageParameters.ts';
import type { ReadRequest, RouteSources } from './route.ts';

/** Reads a page of a list by weight. */
export function readByWeight<View extends { readonly status: string }, Body>(
  load: (views: ActorViews, page: WeightPageRequest) => View | { readonly fault: CursorFault },
  toBody: (view: View) => Body,
) {
  return ({ views }: RouteSources, { parameters }: ReadRequest) => {
    const view = load(views, readPage(parameters));
    return 'fault' in view ? ({ error: 'invalid_cursor' } as const) : { body: toBody(view) };
  };
}

/** Members of the lists by weight. */
export const ranked = {
  topic: 'rewards',
  rateClass: 'publicHeavy',
  cacheControl: noCache,
  query: pageParameters,
  errors: ['invalid_query', 'invalid_cursor'],
  inputs: ({ chain }: ActorViews) => [chain.economy()],
} as const;
