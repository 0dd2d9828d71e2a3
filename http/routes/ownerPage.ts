import { ownerPageDefault } from '../../actors/chain/rows/activityRows.ts';
import { toAddress } from '../../actors/schemas/hex.ts';
import type { CursorFault, OwnerPageRequest } from '../../actors/views/chain/ownerViews.ts';
import type { ChainUnavailable } from '../../actors/views/chain/shownStates.ts';
import type { ActorViews } from '../../actors/views/views.ts';
import { isLowercaseOwner } from '../addresses/ownerAddress.ts';
import { cursor } from '../responses/pages.ts';
import { describeUnreadable } from './describeUnreadable.ts';
import type { ErrorCode } from './errors.ts';
import { parseExactQuery, parsePageLimit } from './parseExactQuery.ts';
import type { ReadResult } from './route.ts';

/** Parses the query of a public route; null if it is invalid. */
function parseOwnerPage(query: URLSearchParams): OwnerPageRequest | null {
  const parameters = parseExactQuery(query, ['owner', 'limit', 'cursor']);
  const owner = parameters?.get('owner');
  const limit = parsePageLimit(parameters?.get('limit'), ownerPageDefault);
  const from = parameters?.get('cursor') ?? null;
  if (parameters === null || owner === undefined || !isLowercaseOwner(owner) || limit === null) return null;
  if (from !== null && !cursor.safeParse(from).success) return null;
  return { owner, limit, cursor: from };
}

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
    { views }: { views: ActorViews },
    { query, signal }: { query: URLSearchParams; signal: AbortSignal },
  ): ReadResult<Body> | Promise<ReadResult<Body>> => {
    const page = parseOwnerPage(query);
    if (page === null) return { error: 'invalid_query' };
    const result = load(views, page, signal);
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
    { views }: { views: ActorViews },
    { pathValue, query, signal }: { pathValue: string; query: URLSearchParams; signal: AbortSignal },
  ): ReadResult<Body> | Promise<ReadResult<Body>> => {
    const parameters = parseExactQuery(query, ['limit', 'cursor']);
    const limit = parsePageLimit(parameters?.get('limit'), ownerPageDefault);
    if (parameters === null || limit === null) return { error: 'invalid_query' };
    // parseOwner has checked the path.
    const owner = toAddress(pathValue);
    const result = load(views, { owner, limit, cursor: parameters.get('cursor') ?? null }, signal);
    if (result instanceof Promise) return result.then((view) => ({ body: buildBody(view) }));
    return 'fault' in result ? { error: faults[result.fault] } : { body: buildBody(result) };
  };
}
