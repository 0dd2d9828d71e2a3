import { z } from 'zod';
import type { OwnerEvent } from '../../../actors/chain/state/ownerState.ts';
import type { FeedItem } from '../../../actors/feed/feedItem.ts';
import type { EconomyView } from '../../../actors/views/chain/coreViews.ts';
import type { ChainUnavailable } from '../../../actors/views/chain/shownStates.ts';
import { type ChainPage, type FoundEvents, recordEventsMax } from '../../../actors/views/feed/feedRecords.ts';
import { defineVariants, toVariant } from '../chain/chain.ts';
import { activity, toActivityBody } from '../chain/ownerActivity.ts';
import { encodeView } from '../encodeView.ts';
import { checkpointEvent, feedEvent, settlementEvent, toFeedEventBody } from '../feed/feedEvent.ts';
import { bytes32, cursor, decimal, pageMax } from '../scalars.ts';

/** Members that events are shown with. */
type EventContext = Omit<EconomyView, 'feed'>;

const nextCursor = cursor.nullable().describe('Requests the next page; null on the last page');

export const eventRecordResponse = defineVariants(
  1,
  { event: feedEvent.describe('The event') },
  {
    id: 'EventRecord',
    description: 'One event of the feed, as the feed shows it',
  },
);

const events = z.array(feedEvent).max(recordEventsMax);

export const transactionResponse = defineVariants(
  1,
  {
    transactionHash: bytes32.describe('The hash of the request'),
    events: events.describe(
      'Its events of the feed, in the order of the chain. Without events and transfers it is not safe yet, or not known; the route cannot tell these apart',
    ),
    transfers: z
      .array(activity)
      .max(recordEventsMax)
      .describe(
        'Its transfers of miners, in the order of the chain, as the activity of both owners has them',
      ),
  },
  { id: 'Transaction', description: 'The events of one transaction' },
);

const batch = settlementEvent
  .safeExtend({
    workPerThousandBlocksBefore: decimal.describe(
      'Difficulty with which it was settled: work units for 1,000 work blocks',
    ),
    workPerThousandBlocksAfter: decimal.describe('Difficulty of the next batch'),
  })
  .meta({ id: 'Batch' });

export const batchesResponse = defineVariants(
  1,
  {
    batches: z.array(batch).max(pageMax).describe('Settled batches, newest first'),
    nextCursor,
  },
  { id: 'Batches', description: 'A page of all settled batches' },
);

export const checkpointsResponse = defineVariants(
  1,
  {
    checkpoints: z.array(checkpointEvent).max(pageMax).describe('Checkpoints, newest first'),
    nextCursor,
  },
  { id: 'Checkpoints', description: 'A page of all checkpoints' },
);

type Found = FoundEvents | ChainUnavailable;

/** An event whose type the view's filter has selected. The body is checked before it is sent. */
function toEventOf<Schema extends z.ZodType>(item: FeedItem, context: EventContext) {
  return toFeedEventBody(item, context) as z.infer<Schema>;
}

export function toEventRecordBody(view: Found): z.infer<typeof eventRecordResponse> {
  return toVariant(1, view, (found) => {
    const [item] = found.events;
    if (item === undefined) throw new Error('the event is missing in its view');
    return { event: toFeedEventBody(item, found) };
  });
}

export interface FoundTransaction extends FoundEvents {
  /** In the order of the chain. */
  readonly transfers: readonly OwnerEvent[];
}

export function toTransactionBody(
  transactionHash: string,
  view: FoundTransaction | ChainUnavailable,
): z.infer<typeof transactionResponse> {
  return toVariant(1, view, (found) => ({
    transactionHash,
    events: found.events.toReversed().map((item) => toFeedEventBody(item, found)),
    transfers: found.transfers
      .slice(0, recordEventsMax)
      .map((event) => toActivityBody(found.chain.chainId, event)),
  }));
}

export function toBatchesBody(view: ChainPage | ChainUnavailable): z.infer<typeof batchesResponse> {
  return toVariant(1, view, (page) => ({
    batches: page.events.flatMap((item) => {
      const { event } = item;
      if (event.family !== 'chain' || event.details.type !== 'system.settlement_completed') return [];
      const { workPerThousandBlocksBefore, workPerThousandBlocksAfter } = event.details;
      return {
        ...toEventOf<typeof settlementEvent>(item, page),
        ...encodeView({ workPerThousandBlocksBefore, workPerThousandBlocksAfter }),
      };
    }),
    nextCursor: page.nextCursor,
  }));
}

export function toCheckpointsBody(view: ChainPage | ChainUnavailable): z.infer<typeof checkpointsResponse> {
  return toVariant(1, view, (page) => ({
    checkpoints: page.events.map((item) => toEventOf<typeof checkpointEvent>(item, page)),
    nextCursor: page.nextCursor,
  }));
}
