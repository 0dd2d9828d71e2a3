import { z } from 'zod';
import type { FeedItem } from '../../../actors/feed/feedItem.ts';
import type { ChainUnavailable, EconomyView } from '../../../actors/views/chain/chainViewTypes.ts';
import {
  type ChainPage,
  type FoundEvents,
  recordEventsMax,
  type SettledBatchView,
  type WorkBlockView,
} from '../../../actors/views/feed/feedRecords.ts';
import { defineVariants, toVariant } from '../chain/chain.ts';
import { checkpointEvent, feedEvent, settlementEvent, toFeedEventBody } from '../feed/feedEvent.ts';
import { cursor } from '../observations.ts';
import { bytes32, decimal } from '../scalars.ts';

/** Members that events are shown with. */
type EventContext = Omit<EconomyView, 'feed'>;

const nextCursor = cursor.nullable().describe('Requests the next page; null on the last page');

export const eventRecordResponse = defineVariants(1, { event: feedEvent.describe('The event') }).meta({
  id: 'EventRecord',
  description: 'One event of the feed, as the feed shows it',
});

const events = z.array(feedEvent).max(recordEventsMax);

export const transactionResponse = defineVariants(1, {
  transactionHash: bytes32.describe('The hash of the request'),
  events: events.describe(
    'Its events in the order of the chain; none if it is not safe yet, only moved tokens, or belongs to other contracts',
  ),
}).meta({ id: 'Transaction', description: 'The events of one transaction' });

export const ethereumBlockResponse = defineVariants(1, {
  ethereumBlockNumber: decimal.describe('The number of the request'),
  events: events.describe('Its events, newest first'),
}).meta({ id: 'EthereumBlock', description: 'The events of one block of the chain' });

export const workBlockResponse = defineVariants(1, {
  blockNumber: decimal.describe('The number of the request'),
  blockHeight: decimal.describe('Number of completed work blocks'),
  settlement: settlementEvent
    .nullable()
    .describe('The settlement that completed it; null before, and once events of its age are kept no longer'),
}).meta({ id: 'WorkBlock', description: 'One block of work, and the settlement that completed it' });

export const settledBatchResponse = defineVariants(1, {
  settlement: settlementEvent.describe('The settled batch'),
  checkpoints: z
    .array(checkpointEvent)
    .describe('The checkpoints that minted for its rounds, newest first; none until then'),
}).meta({ id: 'SettledBatch', description: 'One settled batch, and the checkpoints of its rounds' });

export const batchesResponse = defineVariants(1, {
  batches: z.array(settlementEvent).max(100).describe('Settled batches, newest first'),
  nextCursor,
}).meta({ id: 'Batches', description: 'A page of all settled batches' });

export const checkpointsResponse = defineVariants(1, {
  checkpoints: z.array(checkpointEvent).max(100).describe('Checkpoints, newest first'),
  nextCursor,
}).meta({ id: 'Checkpoints', description: 'A page of all checkpoints' });

type Found = FoundEvents | ChainUnavailable;

/** An event whose type the view's filter has selected. The body is checked before it is sent. */
export function toEventOf<Schema extends z.ZodType>(item: FeedItem, context: EventContext) {
  return toFeedEventBody(item, context) as z.infer<Schema>;
}

export function toEventRecordBody(view: Found): z.infer<typeof eventRecordResponse> {
  return toVariant(1, view, (found) => {
    const [item] = found.events;
    if (item === undefined) throw new Error('the event is missing in its view');
    return { event: toFeedEventBody(item, found) };
  });
}

export function toTransactionBody(transactionHash: string, view: Found): z.infer<typeof transactionResponse> {
  return toVariant(1, view, (found) => ({
    transactionHash,
    events: found.events.toReversed().map((item) => toFeedEventBody(item, found)),
  }));
}

export function toEthereumBlockBody(
  ethereumBlockNumber: string,
  view: Found,
): z.infer<typeof ethereumBlockResponse> {
  return toVariant(1, view, (found) => ({
    ethereumBlockNumber,
    events: found.events.map((item) => toFeedEventBody(item, found)),
  }));
}

export function toSettledBatchBody(
  view: SettledBatchView | ChainUnavailable,
): z.infer<typeof settledBatchResponse> {
  return toVariant(1, view, (found) => ({
    settlement: toEventOf<typeof settlementEvent>(found.settlement, found),
    checkpoints: found.checkpoints.map((item) => toEventOf<typeof checkpointEvent>(item, found)),
  }));
}

export function toWorkBlockBody(view: WorkBlockView | ChainUnavailable): z.infer<typeof workBlockResponse> {
  return toVariant(1, view, (found) => ({
    blockNumber: String(found.blockNumber),
    blockHeight: String(found.blockHeight),
    settlement: found.settlement && toEventOf<typeof settlementEvent>(found.settlement, found),
  }));
}

type Page = ChainPage | ChainUnavailable;

export function toBatchesBody(view: Page): z.infer<typeof batchesResponse> {
  return toVariant(1, view, (page) => ({
    batches: page.events.map((item) => toEventOf<typeof settlementEvent>(item, page)),
    nextCursor: page.nextCursor,
  }));
}

export function toCheckpointsBody(view: Page): z.infer<typeof checkpointsResponse> {
  return toVariant(1, view, (page) => ({
    checkpoints: page.events.map((item) => toEventOf<typeof checkpointEvent>(item, page)),
    nextCursor: page.nextCursor,
  }));
}
