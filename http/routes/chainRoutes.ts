import { z } from 'zod';
import { toAddress } from '../../actors/schemas/hex.ts';
import {
  type ChainUnavailable,
  type CursorFault,
  type OwnerPageRequest,
  type SettlementHistoryView,
  type SettlementRange,
  settlementRanges,
  settlementSources,
} from '../../actors/views/chainViewTypes.ts';
import type { ActorViews, SettlementsView } from '../../actors/views/views.ts';
import { versionId } from '../responses/chain.ts';
import { coreResponse, toCoreBody } from '../responses/core.ts';
import {
  minerStateResponse,
  miningStateResponse,
  toMinerStateBody,
  toMiningStateBody,
} from '../responses/issuance.ts';
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
import {
  computeSettlementsTag,
  plainSettlementsResponse,
  publicSettlementsResponse,
  readSettlementSource,
  toPlainSettlementsBody,
  toPublicSettlementsBody,
} from '../responses/settlements.ts';
import {
  plainMetadataResponse,
  publicMetadataResponse,
  toPlainMetadataBody,
  toPublicMetadataBody,
} from '../responses/tokenMetadata.ts';
import { noStore, privateForFiveMinutes, revalidated } from '../server/cacheControl.ts';
import type { ErrorCode } from '../server/errors.ts';
import { isLowercaseOwner, parseOwner } from './ownerAddress.ts';
import { parseExactQuery, parsePageLimit } from './parseExactQuery.ts';
import {
  defineReadRoute,
  defineViewRoute,
  type PathParameter,
  type QueryParameter,
  type ReadResult,
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
/** Checked by the routes themselves, since the query is checked first (CONTRACT.md, Token metadata). */
const tokenPath: PathParameter = {
  name: 'tokenId',
  schema: z
    .string()
    .regex(/^[1-9][0-9]{0,3}$/)
    .describe('ID of the token, a decimal from 1 to 9999'),
  parse: (segment) => segment,
  error: 'invalid_token_id',
};

const core = defineViewRoute({
  path: '/v1/core',
  operationId: 'getCore',
  summary: 'Core contract at the safe block',
  topic: 'settlement',
  rateClass: 'publicFast',
  pathParameter: null,
  query: 'none',
  cacheControl: null,
  errors: ['invalid_query'],
  response: coreResponse,
  view: ({ chain }) => chain.core(),
  body: toCoreBody,
  unavailable: describeUnreadable,
  tag: null,
  isConditional: false,
});

const miningState = defineViewRoute({
  path: '/v1/mining/state',
  operationId: 'getMiningState',
  summary: 'Issuance and collection at the safe block',
  topic: 'rewards',
  rateClass: 'publicFast',
  pathParameter: null,
  query: 'none',
  cacheControl: null,
  errors: ['invalid_query'],
  response: miningStateResponse,
  view: ({ chain }) => chain.issuance(),
  body: toMiningStateBody,
  unavailable: describeUnreadable,
  tag: null,
  isConditional: false,
});

const minerState = defineViewRoute({
  path: '/v2/public/miners/state',
  operationId: 'getMinerState',
  summary: 'Issuance and collection at the safe block',
  topic: 'rewards',
  rateClass: 'publicFast',
  pathParameter: null,
  query: 'none',
  cacheControl: noStore,
  errors: ['invalid_query'],
  response: minerStateResponse,
  view: ({ chain }) => chain.checkedIssuance(),
  body: toMinerStateBody,
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

function parseRange(value: string | undefined): SettlementRange | null {
  return settlementRanges.find((one) => one === (value ?? 'now')) ?? null;
}

const settlementsMembers = {
  summary: 'Settlements, what they completed and what was minted for it',
  topic: 'settlement',
  rateClass: 'publicHeavy',
  pathParameter: null,
  cacheControl: revalidated,
  errors: ['invalid_query'],
  tag: computeSettlementsTag,
  isConditional: true,
} as const;

const plainSettlements = defineViewRoute({
  ...settlementsMembers,
  path: '/v1/settlements',
  operationId: 'getSettlements',
  query: [rangeParameter],
  selection: (query) => {
    const parameters = parseExactQuery(query, ['range']);
    return parameters === null ? null : parseRange(parameters.get('range'));
  },
  view: ({ chain }, _path, range) => chain.settlements(range),
  response: plainSettlementsResponse,
  body: toPlainSettlementsBody,
  unavailable: describeUnreadable,
  header: { ...settlementSource, value: (history: History) => readSettlementSource(history) },
});

const publicSettlements = defineViewRoute({
  ...settlementsMembers,
  path: '/v4/public/settlements',
  operationId: 'getPublicSettlements',
  query: [
    rangeParameter,
    { name: 'queue', description: '`1` adds the settlement queue to the history', schema: z.literal('1') },
  ],
  // The range, followed by a space and `queue` where the queue is requested.
  selection: (query) => {
    const parameters = parseExactQuery(query, ['range', 'queue']);
    const range = parameters === null ? null : parseRange(parameters.get('range'));
    const queue = parameters?.get('queue');
    if (range === null || (queue !== undefined && queue !== '1')) return null;
    return queue === undefined ? range : `${range} queue`;
  },
  view: (views, _path, selection) => {
    const [range, queue] = selection.split(' ');
    // The range that `selection` has parsed.
    return views.settlements(range as SettlementRange, queue !== undefined);
  },
  response: publicSettlementsResponse,
  body: toPublicSettlementsBody,
  unavailable: (views, failed) => ({ history: describeUnreadable(views), queue: failed?.queue ?? null }),
  header: { ...settlementSource, value: ({ history }: SettlementsView) => readSettlementSource(history) },
});

/** Public routes: exactly these keys, each once; null for anything else. */
function parseOwnerPage(query: URLSearchParams): OwnerPageRequest | null {
  const parameters = parseExactQuery(query, ['owner', 'limit', 'cursor']);
  const owner = parameters?.get('owner');
  const limit = parsePageLimit(parameters?.get('limit'), ownerPageDefault);
  const from = parameters?.get('cursor') ?? null;
  if (parameters === null || owner === undefined || !isLowercaseOwner(owner) || limit === null) return null;
  if (from !== null && !cursor.safeParse(from).success) return null;
  return { owner, limit, cursor: from };
}

/** What a route of the chain says when what it reads cannot be shown (CONTRACT.md, Unavailable reasons). */
function describeUnreadable({ chain, publicInstallationId }: ActorViews): ChainUnavailable {
  return {
    status: 'unavailable',
    installationId: publicInstallationId,
    reason: 'indexer_unavailable',
    release: chain.release,
  };
}

/** A public route answers an unusable cursor with an unavailable body, not with an error (CONTRACT.md, Portfolio). */
function describeCursorFault(views: ActorViews, fault: CursorFault): ChainUnavailable {
  const view = describeUnreadable(views);
  return fault === 'other_owner' ? { ...view, reason: 'indexer_mismatch' } : view;
}

/** Reads a page of an owner's list: at once, or from ClickHouse. */
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

function readPlainOwnerList<View extends { readonly status: string }, Body>(
  load: LoadOwnerPage<View>,
  buildBody: (view: View | ChainUnavailable) => Body,
) {
  const faults: Record<CursorFault, ErrorCode> = {
    undecodable: 'invalid_cursor',
    other_owner: 'invalid_cursor',
    invalidated: 'cursor_invalidated',
  };
  return (
    { views }: { views: ActorViews },
    { pathValue, query, signal }: { pathValue: string; query: URLSearchParams; signal: AbortSignal },
  ): ReadResult<Body> | Promise<ReadResult<Body>> => {
    const parameters = parseExactQuery(query, ['limit', 'cursor']);
    const limit = parsePageLimit(parameters?.get('limit'), ownerPageDefault);
    if (parameters === null || limit === null) return { error: 'invalid_query' };
    // What parseOwner has made of the path.
    const owner = toAddress(pathValue);
    const result = load(views, { owner, limit, cursor: parameters.get('cursor') ?? null }, signal);
    if (result instanceof Promise) return result.then((view) => ({ body: buildBody(view) }));
    return 'fault' in result ? { error: faults[result.fault] } : { body: buildBody(result) };
  };
}

/** Of a page whose older part is read from ClickHouse. */
const storedPageErrors = ['database_busy', 'database_unavailable', 'request_timeout'] as const;

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

const publicPortfolio = defineReadRoute({
  ...publicOwnerMembers,
  path: '/v2/public/miners/portfolio',
  operationId: 'getPublicPortfolio',
  summary: 'Positions of an owner, and what they earn',
  topic: 'rewards',
  response: publicPortfolioResponse,
  unavailable: (views) => toPublicPortfolioBody(describeUnreadable(views)),
  read: readPublicOwnerList(({ chain }, page) => chain.portfolio(page), toPublicPortfolioBody),
});

const plainPortfolio = defineReadRoute({
  ...plainOwnerMembers,
  path: '/v1/owners/{address}/miners',
  operationId: 'getPortfolio',
  summary: 'Positions of an owner, and what they earn',
  topic: 'rewards',
  response: plainPortfolioResponse,
  unavailable: (views) => toPlainPortfolioBody(describeUnreadable(views)),
  read: readPlainOwnerList(({ chain }, page) => chain.portfolio(page), toPlainPortfolioBody),
});

const publicActivity = defineReadRoute({
  ...publicOwnerMembers,
  path: '/v2/public/miners/activity',
  operationId: 'getPublicOwnerActivity',
  summary: 'What an owner did, newest first',
  topic: 'rewards',
  response: publicOwnerActivityResponse,
  unavailable: (views) => toPublicOwnerActivityBody(describeUnreadable(views)),
  errors: [...publicOwnerMembers.errors, ...storedPageErrors],
  read: readPublicOwnerList(
    ({ chain }, page, signal) => chain.ownerActivity(page, signal),
    toPublicOwnerActivityBody,
  ),
});

const plainActivity = defineReadRoute({
  ...plainOwnerMembers,
  path: '/v1/owners/{address}/activity',
  operationId: 'getOwnerActivity',
  summary: 'What an owner did, newest first',
  topic: 'rewards',
  response: plainOwnerActivityResponse,
  unavailable: (views) => toPlainOwnerActivityBody(describeUnreadable(views)),
  errors: [...plainOwnerMembers.errors, ...storedPageErrors],
  read: readPlainOwnerList(
    ({ chain }, page, signal) => chain.ownerActivity(page, signal),
    toPlainOwnerActivityBody,
  ),
});

function parseTokenId(segment: string): number | null {
  return /^[1-9][0-9]{0,3}$/.test(segment) && Number(segment) <= lastTokenId ? Number(segment) : null;
}

const publicMetadata = defineReadRoute({
  path: '/v2/public/miners/metadata/{tokenId}',
  operationId: 'getPublicTokenMetadata',
  summary: 'Metadata of a position',
  topic: 'rewards',
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
  response: publicMetadataResponse,
  unavailable: (views) => toPublicMetadataBody(describeUnreadable(views), false),
  // In this order: query keys, token ID, release (CONTRACT.md, Token metadata).
  read: ({ views: { chain } }, { pathValue, query }) => {
    const parameters = parseExactQuery(query, ['release']);
    if (parameters === null) return { error: 'invalid_query' };
    const tokenId = parseTokenId(pathValue);
    if (tokenId === null) return { error: 'invalid_token_id' };
    const release = parameters.get('release');
    if (release !== undefined && release !== chain.release?.id) return { error: 'invalid_query' };
    const body = toPublicMetadataBody(chain.metadata(tokenId), release !== undefined);
    const isKept = release !== undefined && body.status === 'available' && body.imageDataUri === undefined;
    return { body, cacheControl: isKept ? privateForFiveMinutes : noStore };
  },
});

const plainMetadata = defineReadRoute({
  path: '/v1/miners/{tokenId}/metadata',
  operationId: 'getTokenMetadata',
  summary: 'Metadata of a position',
  topic: 'rewards',
  rateClass: 'metadata',
  pathParameter: tokenPath,
  query: 'none',
  cacheControl: noStore,
  errors: ['invalid_query', 'invalid_token_id'],
  response: plainMetadataResponse,
  unavailable: (views) => toPlainMetadataBody(describeUnreadable(views)),
  read: ({ views: { chain } }, { pathValue }) => {
    const tokenId = parseTokenId(pathValue);
    return tokenId === null
      ? { error: 'invalid_token_id' }
      : { body: toPlainMetadataBody(chain.metadata(tokenId)) };
  },
});

/** The routes that are read from the chain. */
export const chainRoutes: readonly Route[] = [
  core,
  plainSettlements,
  miningState,
  plainPortfolio,
  plainActivity,
  plainMetadata,
  minerState,
  publicPortfolio,
  publicActivity,
  publicMetadata,
  publicSettlements,
];
