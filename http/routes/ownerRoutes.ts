import { z } from 'zod';
import { ownerPageDefault } from '../../actors/chain/rows/activityRows.ts';
import { toAddress } from '../../actors/schemas/hex.ts';
import type { CursorFault, OwnerPageRequest } from '../../actors/views/chain/ownerViews.ts';
import type { ChainUnavailable } from '../../actors/views/chain/shownStates.ts';
import type { ActorViews } from '../../actors/views/views.ts';
import { parseOwner } from '../addresses/ownerAddress.ts';
import {
  plainOwnerActivityResponse,
  publicOwnerActivityResponse,
  toOwnerActivityBody,
} from '../responses/chain/ownerActivity.ts';
import {
  plainPortfolioResponse,
  publicPortfolioResponse,
  toPlainPortfolioBody,
  toPublicPortfolioBody,
} from '../responses/chain/portfolio.ts';
import { noCache, noStore } from './cacheControl.ts';
import type { ErrorCode } from './errors.ts';
import { listPageParameters, readPage } from './pageParameters.ts';
import {
  defineRoute,
  describeUnreadable,
  type PathParameter,
  type QueryParameter,
  type ReadRequest,
  type ReadResult,
  type RouteSources,
} from './route.ts';

const [limit, cursor] = listPageParameters(ownerPageDefault, 'owner');

/** An owner of the simulated economy. */
const exampleOwner = '0x9965507d1a55bcc2695c58ba16fb37d819b0a4dc';

const ownerParameter: QueryParameter = {
  name: 'owner',
  description: 'Address in lower case, not the zero address',
  schema: z
    .string()
    .regex(/^0x0*[1-9a-f][0-9a-f]*$/)
    .length(42)
    .meta({ examples: [exampleOwner] }),
  isRequired: true,
};

const ownerPath: PathParameter = {
  name: 'address',
  schema: z
    .string()
    .regex(/^0x0*[1-9a-fA-F][0-9a-fA-F]*$/)
    .length(42)
    .meta({
      description: '`0x` and 40 hexadecimal digits, in lower case or with a checksum',
      examples: [exampleOwner],
    }),
  parse: parseOwner,
  error: 'invalid_address',
};

const portfolio = {
  summary: 'Positions of an owner, and their rewards',
  topic: 'rewards',
  rateClass: 'publicHeavy',
  inputs: ({ chain }: ActorViews) => [chain.economy()],
} as const;

const activity = { ...portfolio, summary: 'Activity of an owner, newest first' };

const publicMembers = {
  query: [ownerParameter, limit, cursor],
  cacheControl: noStore,
  errors: ['invalid_query'],
} as const;

const plainMembers = {
  pathParameter: ownerPath,
  // An invalid cursor has its own error.
  query: [limit, { ...cursor, isOpaque: true }],
  cacheControl: noCache,
  errors: ['invalid_address', 'invalid_cursor', 'invalid_query', 'cursor_invalidated'],
} as const;

const loadPortfolio = ({ chain }: ActorViews, page: OwnerPageRequest) => chain.portfolio(page);
const loadActivity = ({ chain }: ActorViews, page: OwnerPageRequest, signal: AbortSignal) =>
  chain.ownerActivity(page, signal);

export const publicPortfolio = defineRoute({
  ...portfolio,
  ...publicMembers,
  path: '/v2/public/miners/portfolio',
  operationId: 'getPublicPortfolio',
  response: publicPortfolioResponse,
  unavailable: (views) => toPublicPortfolioBody(describeUnreadable(views)),
  read: readPublicOwnerList(loadPortfolio, toPublicPortfolioBody),
});

export const plainPortfolio = defineRoute({
  ...portfolio,
  ...plainMembers,
  path: '/v1/owners/{address}/miners',
  operationId: 'getPortfolio',
  response: plainPortfolioResponse,
  unavailable: (views) => toPlainPortfolioBody(describeUnreadable(views)),
  read: readPlainOwnerList(loadPortfolio, toPlainPortfolioBody),
});

export const publicActivity = defineRoute({
  ...activity,
  ...publicMembers,
  path: '/v2/public/miners/activity',
  operationId: 'getPublicOwnerActivity',
  response: publicOwnerActivityResponse,
  unavailable: (views) => toOwnerActivityBody(2, describeUnreadable(views)),
  read: readPublicOwnerList(loadActivity, (view) => toOwnerActivityBody(2, view)),
});

export const plainActivity = defineRoute({
  ...activity,
  ...plainMembers,
  path: '/v1/owners/{address}/activity',
  operationId: 'getOwnerActivity',
  response: plainOwnerActivityResponse,
  unavailable: (views) => toOwnerActivityBody(1, describeUnreadable(views)),
  read: readPlainOwnerList(loadActivity, (view) => toOwnerActivityBody(1, view)),
});

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

function readPublicOwnerList<View extends { readonly status: string }, Body>(
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

function readPlainOwnerList<View extends { readonly status: string }, Body>(
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
