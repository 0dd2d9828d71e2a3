import type { FeedType } from '../../actors/feed/feedItem.ts';
import type { ActorViews } from '../../actors/views/actorViews.ts';
import type { ChainUnavailable } from '../../actors/views/chain/shownStates.ts';
import {
  type ChainPage,
  type ChainPageRequest,
  findEvent,
  findEventsOf,
  readChainPage,
} from '../../actors/views/feed/feedRecords.ts';
import { readRoundPage, readRounds } from '../../actors/views/roundViews.ts';
import { eventPath, roundPath, transactionPath } from '../addresses/recordPaths.ts';
import {
  batchesResponse,
  checkpointsResponse,
  eventRecordResponse,
  type FoundTransaction,
  toBatchesBody,
  toCheckpointsBody,
  toEventRecordBody,
  toTransactionBody,
  transactionResponse,
} from '../responses/records/eventRecords.ts';
import { roundResponse, roundsResponse, toRoundBody, toRoundsBody } from '../responses/records/rounds.ts';
import { noCache } from './cacheControl.ts';
import { listTimeParameters, pageParameters, readPage, readTimes } from './parameters.ts';
import {
  defineRoute,
  describeUnreadable,
  type ReadRequest,
  type ReadResult,
  type Route,
  type RouteSources,
} from './route.ts';

const shared = {
  cacheControl: noCache,
  rateClass: 'publicHeavy',
  inputs: ({ feed, process }: ActorViews) => [...feed.inputs(), process()],
} as const;
const record = {
  ...shared,
  topic: 'events',
  query: 'none',
  errors: ['invalid_path', 'invalid_query'],
} as const;
const list = {
  ...shared,
  topic: 'settlement',
  query: [...pageParameters, ...listTimeParameters('those with a block')],
  errors: ['invalid_query', 'invalid_cursor'],
} as const;

/** The chain's own reason, or a reason for a chain that has become unavailable during the read. */
function toUnread(views: ActorViews, found: ChainUnavailable | { readonly status: 'unavailable' }) {
  return 'release' in found ? found : describeUnreadable(views);
}

/**
 * Reads a record, or says why it cannot be read.
 *
 * @param find returns null for an unknown record.
 */
function recordOf<View extends { readonly status: 'available' }, Body>(
  find: (
    views: ActorViews,
    id: string,
    signal: AbortSignal,
  ) => Promise<View | ChainUnavailable | { readonly status: 'unavailable' } | null>,
  toBody: (view: View | ChainUnavailable, id: string) => Body,
) {
  return {
    read: async ({ views }: RouteSources, { pathValue, signal }: ReadRequest): Promise<ReadResult<Body>> => {
      const economy = views.chain.economy();
      if (economy.status === 'unavailable') return { body: toBody(economy, pathValue) };
      const found = await find(views, pathValue, signal);
      if (found === null) return { error: 'not_found' };
      return { body: toBody(found.status === 'unavailable' ? toUnread(views, found) : found, pathValue) };
    },
    unavailable: (views: ActorViews) => toBody(describeUnreadable(views), ''),
  };
}

const event = defineRoute({
  ...record,
  errors: [...record.errors, 'not_found'],
  path: '/v1/events/{eventId}',
  operationId: 'getEvent',
  summary: 'One event of the feed',
  pathParameter: eventPath,
  response: eventRecordResponse,
  ...recordOf(({ feed }, id, signal) => findEvent(feed, id, signal), toEventRecordBody),
});

const transaction = defineRoute({
  ...record,
  path: '/v1/transactions/{transactionHash}',
  operationId: 'getTransaction',
  summary: 'All events and transfers of miners of one transaction, in the order of the chain',
  pathParameter: transactionPath,
  response: transactionResponse,
  ...recordOf(
    async ({ chain, feed }, hash, signal) => {
      const [found, transfers] = await Promise.all([
        findEventsOf(feed, { kind: 'transaction', hash }, signal),
        chain.transfers(hash, signal),
      ]);
      if (found.status === 'unavailable') return found;
      return 'status' in transfers ? transfers : { ...found, transfers };
    },
    (view: FoundTransaction | ChainUnavailable, hash) => toTransactionBody(hash, view),
  ),
});

/** Reads pages of a list with times. */
function listOf<Page extends { readonly status: 'available' }, Body>(
  load: (
    views: ActorViews,
    request: ChainPageRequest,
    signal: AbortSignal,
  ) => Promise<
    Page | ChainUnavailable | { readonly status: 'unavailable' } | { readonly fault: 'undecodable' }
  >,
  toBody: (page: Page | ChainUnavailable) => Body,
) {
  return {
    read: async ({ views }: RouteSources, { parameters, signal }: ReadRequest): Promise<ReadResult<Body>> => {
      const economy = views.chain.economy();
      if (economy.status === 'unavailable') return { body: toBody(economy) };
      const page = await load(views, { ...readPage(parameters), ...readTimes(parameters) }, signal);
      if ('fault' in page) return { error: 'invalid_cursor' };
      return { body: toBody(page.status === 'unavailable' ? toUnread(views, page) : page) };
    },
    unavailable: (views: ActorViews) => toBody(describeUnreadable(views)),
  };
}

/** Lists the events of a type of the chain. */
const listOfType = <Body>(type: FeedType, toBody: (page: ChainPage | ChainUnavailable) => Body) =>
  listOf(({ feed }, page, signal) => readChainPage(feed, type, page, signal), toBody);

const batches = defineRoute({
  ...list,
  path: '/v1/batches',
  operationId: 'getBatches',
  summary: 'All settled batches, newest first, with the difficulty before and after each',
  response: batchesResponse,
  ...listOfType('system.settlement_completed', toBatchesBody),
});

const checkpoints = defineRoute({
  ...list,
  topic: 'rewards',
  path: '/v1/checkpoints',
  operationId: 'getCheckpoints',
  summary: 'All checkpoints, which mint for settled rounds, newest first',
  response: checkpointsResponse,
  ...listOfType('system.mining_checkpointed', toCheckpointsBody),
});

const round = defineRoute({
  ...record,
  path: '/v1/rounds/{round}',
  operationId: 'getRound',
  summary: 'One round: when it is, how far it has come, its settlement and its checkpoint',
  topic: 'settlement',
  pathParameter: roundPath,
  response: roundResponse,
  ...recordOf((views, id, signal) => readRounds(views, [BigInt(id), BigInt(id)], signal), toRoundBody),
});

const rounds = defineRoute({
  ...list,
  query: [...pageParameters, ...listTimeParameters('rounds that begin')],
  path: '/v1/rounds',
  operationId: 'getRounds',
  summary: 'Rounds that have begun, newest first',
  response: roundsResponse,
  ...listOf(readRoundPage, toRoundsBody),
});

export const recordRoutes: readonly Route[] = [event, transaction, batches, checkpoints, round, rounds];
