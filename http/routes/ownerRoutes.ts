import { z } from 'zod';
import { ownerPageDefault } from '../../actors/chain/rows/activityRows.ts';
import { toAddress } from '../../actors/schemas/hex.ts';
import type { ActorViews } from '../../actors/views/actorViews.ts';
import type { CursorFault, OwnerPageRequest } from '../../actors/views/chain/ownerViews.ts';
import type { ChainUnavailable } from '../../actors/views/chain/shownStates.ts';
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
import { listPageParameters, readPage } from './parameters.ts';
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
  ...listOfOwner(loadPortfolio, toPublicPortfolioBody, describeCursorFault),
});

export const plainPortfolio = defineRoute({
  ...portfolio,
  ...plainMembers,
  path: '/v1/owners/{address}/miners',
  operationId: 'getPortfolio',
  response: plainPortfolioResponse,
  ...listOfOwner(loadPortfolio, toPlainPortfolioBody, nameCursorFault),
});

export const publicActivity = defineRoute({
  ...activity,
  ...publicMembers,
  path: '/v2/public/miners/activity',
  operationId: 'getPublicOwnerActivity',
  response: publicOwnerActivityResponse,
  ...listOfOwner(loadActivity, (view) => toOwnerActivityBody(2, view), describeCursorFault),
});

export const plainActivity = defineRoute({
  ...activity,
  ...plainMembers,
  path: '/v1/owners/{address}/activity',
  operationId: 'getOwnerActivity',
  response: plainOwnerActivityResponse,
  ...listOfOwner(loadActivity, (view) => toOwnerActivityBody(1, view), nameCursorFault),
});

/** A public route answers an unusable cursor with an unavailable body instead of an error (CONTRACT.md, Portfolio). */
function describeCursorFault(views: ActorViews, fault: CursorFault): ChainUnavailable {
  const view = describeUnreadable(views);
  return fault === 'other_owner' ? { ...view, reason: 'indexer_mismatch' } : view;
}

function nameCursorFault(_views: ActorViews, fault: CursorFault): ErrorCode {
  const codes: Record<CursorFault, ErrorCode> = {
    undecodable: 'invalid_cursor',
    other_owner: 'invalid_cursor',
    invalidated: 'cursor_invalidated',
    ahead: 'database_unavailable',
  };
  return codes[fault];
}

/**
 * Reads pages of an owner's list.
 *
 * @param load reads a page from memory, or from ClickHouse.
 * @param answerFault returns the answer to an unusable cursor.
 */
function listOfOwner<View extends { readonly status: string }, Body>(
  load: (
    views: ActorViews,
    page: OwnerPageRequest,
    signal: AbortSignal,
  ) => View | ChainUnavailable | { readonly fault: CursorFault } | Promise<View>,
  toBody: (view: View | ChainUnavailable) => Body,
  answerFault: (views: ActorViews, fault: CursorFault) => ChainUnavailable | ErrorCode,
) {
  return {
    read: (
      { views }: RouteSources,
      { pathValue, parameters, signal }: ReadRequest,
    ): ReadResult<Body> | Promise<ReadResult<Body>> => {
      // Path and query have been checked, and one of them has the owner.
      const owner = toAddress(parameters.get('owner') ?? pathValue);
      const result = load(views, { owner, ...readPage(parameters, ownerPageDefault) }, signal);
      if (result instanceof Promise) return result.then((view) => ({ body: toBody(view) }));
      if (!('fault' in result)) return { body: toBody(result) };
      const answer = answerFault(views, result.fault);
      return typeof answer === 'string' ? { error: answer } : { body: toBody(answer) };
    },
    unavailable: (views: ActorViews) => toBody(describeUnreadable(views)),
  };
}
