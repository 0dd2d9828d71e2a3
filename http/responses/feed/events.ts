import { z } from 'zod';
import { listKeys } from '../../../actors/schemas/listKeys.ts';
import {
  type FeedPage,
  type FeedUnavailable,
  feedCategories,
  feedTypes,
  feedUnavailableReasons,
} from '../../../actors/views/feed/feedViews.ts';
import { availableMembers, toAvailableMembers } from '../chain/chain.ts';
import { cursor } from '../observations.ts';
import { installationId, schemaVersion, unavailableStatus } from '../scalars.ts';
import { feedEvent, toFeedEventBody } from './feedEvent.ts';

const eventType = z.enum([...listKeys(feedTypes), 'measurement.rpm_record']);

const available = z
  .strictObject({
    schemaVersion: schemaVersion(1),
    ...availableMembers,
    catalogVersion: z.literal('public-activity-v2').describe('Version of the list of types'),
    category: z.enum(feedCategories).describe('The category of the request'),
    activeEventTypes: z
      .array(eventType)
      .min(1)
      .max(11)
      .refine((types) => new Set(types).size === types.length)
      .meta({ uniqueItems: true, description: 'Types that the category can contain now, each once' }),
    events: z.array(feedEvent).max(100).describe('Newest first, by `recordedAt`'),
    nextCursor: cursor.nullable().describe('Where the next page begins; null on the last one'),
  })
  .meta({ id: 'EventFeedAvailable' });

const unavailable = z
  .strictObject({
    schemaVersion: schemaVersion(1),
    installationId: installationId.describe('The public installation'),
    status: unavailableStatus,
    reason: z
      .enum(feedUnavailableReasons)
      .describe(
        'Why there is nothing to show: the reasons of the chain, or no accepted reading yet where measurements are requested',
      ),
  })
  .meta({ id: 'EventFeedUnavailable' });

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
