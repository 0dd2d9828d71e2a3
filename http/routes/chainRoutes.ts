import { z } from 'zod';
import {
  type ChainUnavailable,
  type CursorFault,
  type OwnerPageRequest,
  type SettlementHistoryView,
  type SettlementRange,
  settlementRanges,
  settlementSources,
} from '../../actors/views/chainViewTypes.ts';
import type { ActivityViews, SettlementsView } from '../../actors/views/views.ts';
import { versionId } from '../responses/chain.ts';
import { coreBody, coreResponse } from '../responses/core.ts';
import {
  minerStateBody,
  minerStateResponse,
  miningStateBody,
  miningStateResponse,
} from '../responses/issuance.ts';
import { cursor } from '../responses/observations.ts';
import {
  ownerActivityBodyA,
  ownerActivityBodyB,
  ownerActivityResponseA,
  ownerActivityResponseB,
} from '../responses/ownerActivity.ts';
import {
  portfolioBodyA,
  portfolioBodyB,
  portfolioResponseA,
  portfolioResponseB,
} from '../responses/portfolio.ts';
import {
  readSettlementSource,
  settlementsBodyA,
  settlementsBodyB,
  settlementsResponseA,
  settlementsResponseB,
  settlementsTag,
} from '../responses/settlements.ts';
import {
  metadataBodyA,
  metadataBodyB,
  metadataResponseA,
  metadataResponseB,
} from '../responses/tokenMetadata.ts';
import { noStore, privateForFiveMinutes, revalidated } from '../server/cacheControl.ts';
import type { ErrorCode } from '../server/errors.ts';
import { isLowerCaseOwner, parseOwner } from './ownerAddress.ts';
import { parseExactQuery, parsePageLimit } from './parseExactQuery.ts';
import {
  defineReadRoute,
  defineViewRoute,
  type PathParameter,
  type QueryParameter,
  type ReadAnswer,
  type Route,
} from './route.ts';

/** Page size of owner lists (CONTRACT.md, Portfolio). */
export const ownerPageDefault = 25;
const lastTokenId = 9_999;

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
const rangeParameter: QueryParameter = {
  name: 'range',
  description: 'Window; `now` has none',
  schema: z.enum(settlementRanges).meta({ default: 'now' }),
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
/** Checked by the routes themselves, since a query is checked before it (CONTRACT.md, Token metadata). */
const tokenPath: PathParameter = {
  name: 'tokenId',
  schema: z.string().regex(/^[1-9][0-9]{0,3}$/),
  parse: (segment) => segment,
  error: 'invalid_token_id',
};

const core = defineViewRoute({
  path: '/v1/core',
  operationId: 'getCore',
  summary: 'Core contract at the safe block',
  rateClass: 'publicFast',
  pathParameter: null,
  query: 'none',
  cacheControl: null,
  errors: ['invalid_query'],
  response: coreResponse,
  view: ({ chain }) => chain.core(),
  body: coreBody,
  unavailable: describeUnreadable,
  tag: null,
  isConditional: false,
});

const miningState = defineViewRoute({
  path: '/v1/mining/state',
  operationId: 'getMiningState',
  summary: 'Issuance and collection at the safe block',
  rateClass: 'publicFast',
  pathParameter: null,
  query: 'none',
  cacheControl: null,
  errors: ['invalid_query'],
  response: miningStateResponse,
  view: ({ chain }) => chain.issuance(),
  body: miningStateBody,
  unavailable: describeUnreadable,
  tag: null,
  isConditional: false,
});

const minerState = defineViewRoute({
  path: '/v2/public/miners/state',
  operationId: 'getMinerState',
  summary: 'Issuance and collection at the safe block',
  rateClass: 'publicFast',
  pathParameter: null,
  query: 'none',
  cacheControl: noStore,
  errors: ['invalid_query'],
  response: minerStateResponse,
  view: ({ chain }) => chain.checkedIssuance(),
  body: minerStateBody,
  unavailable: describeUnreadable,
  tag: null,
  isConditional: false,
});

type History = SettlementHistoryView | ChainUnavailable;

const settlementSource = {
  name: 'X-Miner-Settlement-Source',
  description: 'Where the history comes from; durable-cache while the indexer is unavailable or behind',
  values: settlementSources,
};

function parseRange(given: string | undefined): SettlementRange | null {
  return settlementRanges.find((one) => one === (given ?? 'now')) ?? null;
}

const settlementsMembers = {
  summary: 'Settlements, what they completed and what was minted for it',
  rateClass: 'publicHeavy',
  pathParameter: null,
  cacheControl: revalidated,
  errors: ['invalid_query'],
  tag: settlementsTag,
  isConditional: true,
} as const;

const settlementsB = defineViewRoute({
  ...settlementsMembers,
  path: '/v1/settlements',
  operationId: 'getSettlements',
  query: [rangeParameter],
  selection: (query) => {
    const given = parseExactQuery(query, ['range']);
    return given === null ? null : parseRange(given.get('range'));
  },
  view: ({ chain }, _path, range) => chain.settlements(range as SettlementRange),
  response: settlementsResponseB,
  body: settlementsBodyB,
  unavailable: describeUnreadable,
  header: { ...settlementSource, value: (history: History) => readSettlementSource(history) },
});

const settlementsA = defineViewRoute({
  ...settlementsMembers,
  path: '/v4/public/settlements',
  operationId: 'getPublicSettlements',
  query: [
    rangeParameter,
    { name: 'queue', description: 'The settlement queue beside the history', schema: z.literal('1') },
  ],
  // The range, and behind a space whether the queue is asked for.
  selection: (query) => {
    const given = parseExactQuery(query, ['range', 'queue']);
    const range = given === null ? null : parseRange(given.get('range'));
    const queue = given?.get('queue');
    if (range === null || (queue !== undefined && queue !== '1')) return null;
    return queue === undefined ? range : `${range} queue`;
  },
  view: (views, _path, selection) => {
    const [range, queue] = selection.split(' ');
    return views.settlements(range as SettlementRange, queue !== undefined);
  },
  response: settlementsResponseA,
  body: settlementsBodyA,
  unavailable: (views, failed) => ({ history: describeUnreadable(views), queue: failed?.queue ?? null }),
  header: { ...settlementSource, value: ({ history }: SettlementsView) => readSettlementSource(history) },
});

/** Public routes: exactly these keys, each once; null for anything else. */
function parseOwnerPage(query: URLSearchParams): OwnerPageRequest | null {
  const given = parseExactQuery(query, ['owner', 'limit', 'cursor']);
  const owner = given?.get('owner');
  const limit = parsePageLimit(given?.get('limit'), ownerPageDefault);
  const from = given?.get('cursor') ?? null;
  if (given === null || owner === undefined || !isLowerCaseOwner(owner) || limit === null) return null;
  if (from !== null && !cursor.safeParse(from).success) return null;
  return { owner, limit, cursor: from };
}

/** What a route of the chain says when what it reads cannot be shown (CONTRACT.md, Unavailable reasons). */
function describeUnreadable({ chain, publicInstallationId }: ActivityViews): ChainUnavailable {
  return {
    status: 'unavailable',
    installationId: publicInstallationId,
    reason: 'indexer_unavailable',
    release: chain.release,
  };
}

/** A public route answers a cursor that it cannot use as unavailable, not as an error (CONTRACT.md, Portfolio). */
function describeCursorFault(views: ActivityViews, fault: CursorFault): ChainUnavailable {
  const view = describeUnreadable(views);
  return fault === 'other_owner' ? { ...view, reason: 'indexer_mismatch' } : view;
}

function ownerListA<View extends { readonly status: string }, Body>(
  ask: (
    views: ActivityViews,
    page: OwnerPageRequest,
  ) => View | ChainUnavailable | { readonly fault: CursorFault },
  buildBody: (view: View | ChainUnavailable) => Body,
) {
  return ({ views }: { views: ActivityViews }, { query }: { query: URLSearchParams }): ReadAnswer<Body> => {
    const page = parseOwnerPage(query);
    if (page === null) return { error: 'invalid_query' };
    const found = ask(views, page);
    return { body: buildBody('fault' in found ? describeCursorFault(views, found.fault) : found) };
  };
}

function ownerListB<View extends { readonly status: string }, Body>(
  ask: (
    views: ActivityViews,
    page: OwnerPageRequest,
  ) => View | ChainUnavailable | { readonly fault: CursorFault },
  buildBody: (view: View | ChainUnavailable) => Body,
) {
  const faults: Record<CursorFault, ErrorCode> = {
    undecodable: 'invalid_cursor',
    other_owner: 'invalid_cursor',
    invalidated: 'cursor_invalidated',
  };
  return (
    { views }: { views: ActivityViews },
    { pathValue: owner, query }: { pathValue: string; query: URLSearchParams },
  ): ReadAnswer<Body> => {
    const given = parseExactQuery(query, ['limit', 'cursor']);
    const limit = parsePageLimit(given?.get('limit'), ownerPageDefault);
    if (given === null || limit === null) return { error: 'invalid_query' };
    const found = ask(views, { owner, limit, cursor: given.get('cursor') ?? null });
    return 'fault' in found ? { error: faults[found.fault] } : { body: buildBody(found) };
  };
}

const ownerMembersA = {
  rateClass: 'publicHeavy',
  pathParameter: null,
  query: [ownerParameter, limitParameter, cursorParameter],
  cacheControl: noStore,
  errors: ['invalid_query'],
} as const;

const ownerMembersB = {
  rateClass: 'publicHeavy',
  pathParameter: ownerPath,
  query: [limitParameter, cursorParameter],
  cacheControl: null,
  errors: ['invalid_address', 'invalid_cursor', 'invalid_query', 'cursor_invalidated'],
} as const;

const portfolioA = defineReadRoute({
  ...ownerMembersA,
  path: '/v2/public/miners/portfolio',
  operationId: 'getPublicPortfolio',
  summary: 'Positions of an owner, and what they earn',
  response: portfolioResponseA,
  unavailable: (views) => portfolioBodyA(describeUnreadable(views)),
  read: ownerListA(({ chain }, page) => chain.portfolio(page), portfolioBodyA),
});

const portfolioB = defineReadRoute({
  ...ownerMembersB,
  path: '/v1/owners/{address}/miners',
  operationId: 'getPortfolio',
  summary: 'Positions of an owner, and what they earn',
  response: portfolioResponseB,
  unavailable: (views) => portfolioBodyB(describeUnreadable(views)),
  read: ownerListB(({ chain }, page) => chain.portfolio(page), portfolioBodyB),
});

const activityA = defineReadRoute({
  ...ownerMembersA,
  path: '/v2/public/miners/activity',
  operationId: 'getPublicOwnerActivity',
  summary: 'What an owner did, newest first',
  response: ownerActivityResponseA,
  unavailable: (views) => ownerActivityBodyA(describeUnreadable(views)),
  read: ownerListA(({ chain }, page) => chain.ownerActivity(page), ownerActivityBodyA),
});

const activityB = defineReadRoute({
  ...ownerMembersB,
  path: '/v1/owners/{address}/activity',
  operationId: 'getOwnerActivity',
  summary: 'What an owner did, newest first',
  response: ownerActivityResponseB,
  unavailable: (views) => ownerActivityBodyB(describeUnreadable(views)),
  read: ownerListB(({ chain }, page) => chain.ownerActivity(page), ownerActivityBodyB),
});

function parseTokenId(segment: string): number | null {
  return /^[1-9][0-9]{0,3}$/.test(segment) && Number(segment) <= lastTokenId ? Number(segment) : null;
}

const metadataA = defineReadRoute({
  path: '/v2/public/miners/metadata/{tokenId}',
  operationId: 'getPublicTokenMetadata',
  summary: 'Metadata of a position',
  rateClass: 'metadata',
  pathParameter: tokenPath,
  query: [
    {
      name: 'release',
      description: 'ID of the current release; then a card takes the place of the image',
      schema: versionId,
    },
  ],
  cacheControl: noStore,
  errors: ['invalid_query', 'invalid_token_id'],
  response: metadataResponseA,
  unavailable: (views) => metadataBodyA(describeUnreadable(views), false),
  // In this order: query keys, token ID, release (CONTRACT.md, Token metadata).
  read: ({ views: { chain } }, { pathValue, query }) => {
    const given = parseExactQuery(query, ['release']);
    if (given === null) return { error: 'invalid_query' };
    const tokenId = parseTokenId(pathValue);
    if (tokenId === null) return { error: 'invalid_token_id' };
    const release = given.get('release');
    if (release !== undefined && release !== chain.release?.id) return { error: 'invalid_query' };
    const body = metadataBodyA(chain.metadata(tokenId), release !== undefined);
    const isKept = release !== undefined && body.status === 'available' && body.imageDataUri === undefined;
    return { body, cacheControl: isKept ? privateForFiveMinutes : noStore };
  },
});

const metadataB = defineReadRoute({
  path: '/v1/miners/{tokenId}/metadata',
  operationId: 'getTokenMetadata',
  summary: 'Metadata of a position',
  rateClass: 'metadata',
  pathParameter: tokenPath,
  query: 'none',
  cacheControl: noStore,
  errors: ['invalid_query', 'invalid_token_id'],
  response: metadataResponseB,
  unavailable: (views) => metadataBodyB(describeUnreadable(views)),
  read: ({ views: { chain } }, { pathValue }) => {
    const tokenId = parseTokenId(pathValue);
    return tokenId === null
      ? { error: 'invalid_token_id' }
      : { body: metadataBodyB(chain.metadata(tokenId)) };
  },
});

/** The routes that are read from the chain. */
export const chainRoutes: readonly Route[] = [
  core,
  settlementsB,
  miningState,
  portfolioB,
  activityB,
  metadataB,
  minerState,
  portfolioA,
  activityA,
  metadataA,
  settlementsA,
];
