import { ownerPageDefault } from '../../actors/chain/rows/activityRows.ts';
import { toAddress } from '../../actors/schemas/hex.ts';
import type { CursorFault, OwnerPageRequest } from '../../actors/views/chain/ownerViews.ts';
import type { ChainUnavailable } from '../../actors/views/chain/shownStates.ts';
import type { ActorViews } from '../../actors/views/views.ts';
import { describeUnreadable } from './describeUnreadable.ts';
import type { ErrorCode } from './errors.ts';
import { readPage } from './pageParameters.ts';
import type { ReadRequest, ReadResult, RouteSources } from './route.ts';

/** A public route answers an unusable cursor with an unavailable body instead of an error (CONTRACT.md, Portfolio). */
function describeCursorFault(views: ActorViews, fault: CursorFault): ChainUnavailable {
  const view = describeUnreadable(views);
  return fault === 'other_owner' ? { ...view, reason: 'indexer_mismatch' } : view;
}

/** Reads a page of an owner's list: from memory, or from ClickHouse. */
type LoadOwnerPage<View> = (
  views: ActorViews,
  page: OwnerPageRequest,
  signal: AbortSignal,
) => View | ChainUnavailable | { readonly fault: CursorFault } | Promise<View>;

export function readPublicOwnerList<View extends { readonly status: string }, Body>(
  load: LoadOwnerPage<View>,
  buildBody: (view: View | ChainUnavailable) => Body,
) {
  return (
    { views }: RouteSources,
    { parameters, signal }: ReadRequest,
  ): ReadResult<Body> | Promise<ReadResult<Body>> => {
    const owner = toAddress(parameters.get('owner') as string); // It is required.
    const result = load(views, { owner, ...readPage(parameters, ownerPageDefault) }, signal);
    if (result instanceof Promise) return result.then((view) => ({ body: buildBody(view) }));
    return { body: buildBody('fault' in result ? describeCursorFault(views, result.fault) : result) };
  };
}

export function readPlainOwnerList<View extends { readonly status: string }, Body>(
  load: LoadOwnerPage<View>,
  buildBody: (view: View | ChainUnavailable) => Body,
) {
  const faults: Record<CursorFault, ErrorCode> = {
    undecodable: 'invalid_cursor',
    other_owner: 'invalid_cursor',
    invalidated: 'cursor_invalidated',
    ahead: 'database_unavailable',
  };
  return (
    { views }: RouteSources,
    { pathValue, parameters, signal }: ReadRequest,
  ): ReadResult<Body> | Promise<ReadResult<Body>> => {
    // parseOwner has checked the path.
    const owner = toAddress(pathValue);
    const result = load(views, { owner, ...readPage(parameters, ownerPageDefault) }, signal);
    if (result instanceof Promise) return result.then((view) => ({ body: buildBody(view) }));
    return 'fault' in result ? { error: faults[result.fault] } : { body: buildBody(result) };
  };
}
