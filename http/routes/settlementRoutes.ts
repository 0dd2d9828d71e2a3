import { z } from 'zod';
import { settlementSources } from '../../actors/chain/state/settlementSource.ts';
import type { SettlementsView } from '../../actors/views/actorViews.ts';
import type { SettlementRange } from '../../actors/views/chain/settlementHistory.ts';
import type { SettlementHistoryView } from '../../actors/views/chain/settlementView.ts';
import type { ChainUnavailable } from '../../actors/views/chain/shownStates.ts';
import {
  computeSettlementsTag,
  plainSettlementsResponse,
  publicSettlementsResponse,
  readSettlementSource,
  settlementRange,
  toPlainSettlementsBody,
  toPublicSettlementsBody,
} from '../responses/chain/settlements.ts';
import { revalidated } from './cacheControl.ts';
import { defineRoute, describeUnreadable, type Parameters, type QueryParameter } from './route.ts';

const rangeParameter: QueryParameter = {
  name: 'range',
  description: 'Time window; `now` covers all of the history',
  schema: settlementRange.meta({ default: 'now' }),
};

type History = SettlementHistoryView | ChainUnavailable;

const settlementSource = {
  name: 'X-Miner-Settlement-Source',
  description: 'Source of the history; `durable-cache` while the indexer is unavailable or behind',
  values: settlementSources,
};

/** The schema has checked it. */
const readRange = (parameters: Parameters) => (parameters.get('range') ?? 'now') as SettlementRange;

const settlementsMembers = {
  summary: 'Settlements, completed work blocks and minted rewards',
  topic: 'settlement',
  rateClass: 'publicHeavy',
  cacheControl: revalidated,
  errors: ['invalid_query'],
  tag: computeSettlementsTag,
  isConditional: true,
} as const;

export const plainSettlements = defineRoute({
  ...settlementsMembers,
  path: '/v1/settlements',
  operationId: 'getSettlements',
  query: [rangeParameter],
  view: ({ chain }, _path, parameters) => chain.settlements(readRange(parameters)),
  response: plainSettlementsResponse,
  body: toPlainSettlementsBody,
  unavailable: describeUnreadable,
  header: { ...settlementSource, value: (history: History) => readSettlementSource(history) },
});

export const publicSettlements = defineRoute({
  ...settlementsMembers,
  path: '/v4/public/settlements',
  operationId: 'getPublicSettlements',
  query: [
    rangeParameter,
    { name: 'queue', description: '`1` adds the settlement queue to the history', schema: z.literal('1') },
  ],
  view: (views, _path, parameters) => views.settlements(readRange(parameters), parameters.has('queue')),
  response: publicSettlementsResponse,
  body: toPublicSettlementsBody,
  unavailable: (views, failed) => ({ history: describeUnreadable(views), queue: failed?.queue ?? null }),
  header: { ...settlementSource, value: ({ history }: SettlementsView) => readSettlementSource(history) },
});
