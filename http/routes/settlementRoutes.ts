import { z } from 'zod';
import { settlementSources } from '../../actors/chain/state/settlementSource.ts';
import { type SettlementRange, settlementRanges } from '../../actors/views/chain/settlementHistory.ts';
import type { SettlementHistoryView } from '../../actors/views/chain/settlementView.ts';
import type { ChainUnavailable } from '../../actors/views/chain/shownStates.ts';
import type { SettlementsView } from '../../actors/views/views.ts';
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
import { describeUnreadable } from './describeUnreadable.ts';
import { parseExactQuery } from './parseExactQuery.ts';
import { defineSelectedRoute, type QueryParameter } from './route.ts';

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

function parseRange(value: string | undefined): SettlementRange | null {
  return settlementRanges.find((one) => one === (value ?? 'now')) ?? null;
}

const settlementsMembers = {
  summary: 'Settlements, completed work blocks and minted rewards',
  topic: 'settlement',
  rateClass: 'publicHeavy',
  cacheControl: revalidated,
  errors: ['invalid_query'],
  tag: computeSettlementsTag,
  isConditional: true,
} as const;

export const plainSettlements = defineSelectedRoute({
  ...settlementsMembers,
  path: '/v1/settlements',
  operationId: 'getSettlements',
  query: [rangeParameter],
  select: (query) => {
    const parameters = parseExactQuery(query, ['range']);
    return parameters === null ? null : parseRange(parameters.get('range'));
  },
  view: ({ chain }, _path, range) => chain.settlements(range),
  response: plainSettlementsResponse,
  body: toPlainSettlementsBody,
  unavailable: describeUnreadable,
  header: { ...settlementSource, value: (history: History) => readSettlementSource(history) },
});

export const publicSettlements = defineSelectedRoute({
  ...settlementsMembers,
  path: '/v4/public/settlements',
  operationId: 'getPublicSettlements',
  query: [
    rangeParameter,
    { name: 'queue', description: '`1` adds the settlement queue to the history', schema: z.literal('1') },
  ],
  select: (query) => {
    const parameters = parseExactQuery(query, ['range', 'queue']);
    const range = parameters === null ? null : parseRange(parameters.get('range'));
    const queue = parameters?.get('queue');
    if (range === null || (queue !== undefined && queue !== '1')) return null;
    return { range, hasQueue: queue !== undefined };
  },
  view: (views, _path, { range, hasQueue }) => views.settlements(range, hasQueue),
  response: publicSettlementsResponse,
  body: toPublicSettlementsBody,
  unavailable: (views, failed) => ({ history: describeUnreadable(views), queue: failed?.queue ?? null }),
  header: { ...settlementSource, value: ({ history }: SettlementsView) => readSettlementSource(history) },
});
