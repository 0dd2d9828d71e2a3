import { z } from 'zod';
import { feedCategories, feedTypes } from '../../../actors/feed/feedItem.ts';
import { listKeys } from '../../../actors/schemas/listKeys.ts';
import {
  type FeedPage,
  type FeedUnavailable,
  feedUnavailableReasons,
} from '../../../actors/views/feed/feedViews.ts';
import { availableMembers, toAvailableMembers } from '../chain/chain.ts';
import {
  cursor,
  defineObject,
  installationId,
  pageMax,
  schemaVersion,
  unavailableStatus,
} from '../scalars.ts';
import { feedEvent, toFeedEventBody } from './feedEvent.ts';

export const feedCategory = z
  .enum(feedCategories)
  .meta({ id: 'FeedCategory', description: 'Category of events' });

const eventType = z
  .enum([...listKeys(feedTypes), 'measurement.rpm_record'])
  .meta({ id: 'EventType', description: 'Type of an event' });

const available = defineObject('EventFeedAvailable', {
  schemaVersion: schemaVersion(1),
  ...availableMembers,
  catalogVersion: z.literal('public-activity-v2').describe('Version of the list of event types'),
  category: feedCategory.describe('The category of the request'),
  activeEventTypes: z
    .array(eventType)
    .min(1)
    .max(eventType.options.length)
    .refine((types) => new Set(types).size === types.length)
    .meta({ uniqueItems: true, description: 'Event types that the category can contain now' }),
  events: z.array(feedEvent).max(pageMax).describe('Events by `recordedAt`, newest first'),
  nextCursor: cursor.nullable().describe('Requests the next page; null on the last page'),
});

const unavailable = defineObject('EventFeedUnavailable', {
  schemaVersion: schemaVersion(1),
  installationId: installationId.describe('The public installation'),
  status: unavailableStatus,
  reason: z
    .enum(feedUnavailableReasons)
    .meta({ id: 'EventFeedUnavailableReason' })
    .describe(
      'Why nothing is shown: a reason of the chain, or `source_disabled` if measurements are requested before the first accepted reading',
    ),
});

export const eventsResponse = z
  .discriminatedUnion('status', [available, unavailable])
  .meta({ id: 'EventFeed' });

export function toEventsBody(view: FeedPage | FeedUnavailable): z.infer<typeof eventsResponse> {
  if (view.status === 'unavailable') {
    const { status, reason } = view;
    return { schemaVersion: 1, installationId: view.installationId, status, reason };
  }
  return {
    schemaVersion: 1,
    ...toAvailableMembers(view),
    catalogVersion: 'public-activity-v2',
    category: view.category,
    activeEventTypes: [...view.activeEventTypes],
    events: view.events.map((item) => toFeedEventBody(item, view)),
    nextCursor: view.nextCursor,
  };
}
