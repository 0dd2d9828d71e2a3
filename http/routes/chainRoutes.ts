import { coreResponse, toCoreBody } from '../responses/chain/core.ts';
import {
  minerStateResponse,
  miningStateResponse,
  toMinerStateBody,
  toMiningStateBody,
} from '../responses/chain/issuance.ts';
import { noCache, noStore } from './cacheControl.ts';
import { plainMetadata, publicMetadata } from './metadataRoutes.ts';
import { plainActivity, plainPortfolio, publicActivity, publicPortfolio } from './ownerRoutes.ts';
import { defineRoute, describeUnreadable, type Route } from './route.ts';
import { plainSettlements, publicSettlements } from './settlementRoutes.ts';

const core = defineRoute({
  path: '/v1/core',
  operationId: 'getCore',
  cacheControl: noCache,
  summary: 'Core contract at the safe block',
  topic: 'settlement',
  rateClass: 'publicFast',
  query: 'none',
  errors: ['invalid_query'],
  response: coreResponse,
  view: ({ chain }) => chain.core(),
  body: toCoreBody,
  unavailable: describeUnreadable,
});

const issuanceMembers = {
  summary: 'Issuance and collection at the safe block',
  topic: 'rewards',
  rateClass: 'publicFast',
  query: 'none',
  errors: ['invalid_query'],
  unavailable: describeUnreadable,
} as const;

const miningState = defineRoute({
  ...issuanceMembers,
  path: '/v1/mining/state',
  operationId: 'getMiningState',
  cacheControl: noCache,
  response: miningStateResponse,
  view: ({ chain }) => chain.issuance(),
  body: toMiningStateBody,
});

const minerState = defineRoute({
  ...issuanceMembers,
  path: '/v2/public/miners/state',
  operationId: 'getMinerState',
  cacheControl: noStore,
  response: minerStateResponse,
  view: ({ chain }) => chain.checkedIssuance(),
  body: toMinerStateBody,
});

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
