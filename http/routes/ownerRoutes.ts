import { z } from 'zod';
import { cursor } from '../responses/observations.ts';
import {
  plainOwnerActivityResponse,
  publicOwnerActivityResponse,
  toPlainOwnerActivityBody,
  toPublicOwnerActivityBody,
} from '../responses/ownerActivity.ts';
import {
  plainPortfolioResponse,
  publicPortfolioResponse,
  toPlainPortfolioBody,
  toPublicPortfolioBody,
} from '../responses/portfolio.ts';
import { noStore } from './cacheControl.ts';
import { describeUnreadable } from './describeUnreadable.ts';
import { parseOwner } from './ownerAddress.ts';
import { ownerPageDefault, readPlainOwnerList, readPublicOwnerList } from './ownerPage.ts';
import { defineReadRoute, type PathParameter, type QueryParameter } from './route.ts';

const cursorParameter: QueryParameter = {
  name: 'cursor',
  description: 'The `nextCursor` of the page before, with the same owner; omit for the start',
  schema: cursor,
};

const limitParameter: QueryParameter = {
  name: 'limit',
  description: 'Page size, 1-100',
  schema: z.int().min(1).max(100).meta({ default: ownerPageDefault }),
};

const ownerParameter: QueryParameter = {
  name: 'owner',
  description: 'Address in lower case, not the zero address',
  schema: z.string().regex(/^0x(?!0{40}$)[0-9a-f]{40}$/),
  isRequired: true,
};

const ownerPath: PathParameter = {
  name: 'address',
  schema: z
    .string()
    .regex(/^0x(?!0{40}$)[0-9a-fA-F]{40}$/)
    .meta({ description: '`0x` and 40 hexadecimal digits: lower case, or with its checksum' }),
  parse: parseOwner,
  error: 'invalid_address',
};

const publicOwnerMembers = {
  rateClass: 'publicHeavy',
  pathParameter: null,
  query: [ownerParameter, limitParameter, cursorParameter],
  cacheControl: noStore,
  errors: ['invalid_query'],
} as const;

const plainOwnerMembers = {
  rateClass: 'publicHeavy',
  pathParameter: ownerPath,
  query: [limitParameter, cursorParameter],
  cacheControl: null,
  errors: ['invalid_address', 'invalid_cursor', 'invalid_query', 'cursor_invalidated'],
} as const;

export const publicPortfolio = defineReadRoute({
  ...publicOwnerMembers,
  path: '/v2/public/miners/portfolio',
  operationId: 'getPublicPortfolio',
  summary: 'Positions of an owner, and what they earn',
  topic: 'rewards',
  response: publicPortfolioResponse,
  unavailable: (views) => toPublicPortfolioBody(describeUnreadable(views)),
  read: readPublicOwnerList(({ chain }, page) => chain.portfolio(page), toPublicPortfolioBody),
});

export const plainPortfolio = defineReadRoute({
  ...plainOwnerMembers,
  path: '/v1/owners/{address}/miners',
  operationId: 'getPortfolio',
  summary: 'Positions of an owner, and what they earn',
  topic: 'rewards',
  response: plainPortfolioResponse,
  unavailable: (views) => toPlainPortfolioBody(describeUnreadable(views)),
  read: readPlainOwnerList(({ chain }, page) => chain.portfolio(page), toPlainPortfolioBody),
});

export const publicActivity = defineReadRoute({
  ...publicOwnerMembers,
  path: '/v2/public/miners/activity',
  operationId: 'getPublicOwnerActivity',
  summary: 'What an owner did, newest first',
  topic: 'rewards',
  response: publicOwnerActivityResponse,
  unavailable: (views) => toPublicOwnerActivityBody(describeUnreadable(views)),
  read: readPublicOwnerList(
    ({ chain }, page, signal) => chain.ownerActivity(page, signal),
    toPublicOwnerActivityBody,
  ),
});

export const plainActivity = defineReadRoute({
  ...plainOwnerMembers,
  path: '/v1/owners/{address}/activity',
  operationId: 'getOwnerActivity',
  summary: 'What an owner did, newest first',
  topic: 'rewards',
  response: plainOwnerActivityResponse,
  unavailable: (views) => toPlainOwnerActivityBody(describeUnreadable(views)),
  read: readPlainOwnerList(
    ({ chain }, page, signal) => chain.ownerActivity(page, signal),
    toPlainOwnerActivityBody,
  ),
});
