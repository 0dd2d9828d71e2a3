import { z } from 'zod';
import type { DayStatistics } from '../../../actors/statistics/dayStatistics.ts';
import { type FoundEvents, recordEventsMax } from '../../../actors/views/feed/feedRecords.ts';
import type { FeedUnavailable } from '../../../actors/views/feed/feedViews.ts';
import { toIsoString } from '../encodeView.ts';
import { feedEvent, toFeedEventBody } from '../feed/feedEvent.ts';
import { installationId, schemaVersion, timestamp } from '../scalars.ts';
import { day, encodeDay } from '../statistics/statisticsActivity.ts';

export const dayResponse = z
  .strictObject({
    schemaVersion: schemaVersion(1),
    installationId: installationId.describe('The public installation'),
    date: z.iso.date().describe('Date of the noon UTC at which the day begins'),
    startAt: timestamp.describe('Start, inclusive: noon UTC of `date`'),
    endAt: timestamp.describe('End, exclusive: noon UTC of the date after'),
    day: day.describe('Its work, distance and half hours'),
    events: z
      .array(feedEvent)
      .max(recordEventsMax)
      .nullable()
      .describe(
        'Milestones and records of the wheel on this day, by the device’s clock, newest first, without those that were received a day after its end; null while events cannot be read',
      ),
  })
  .meta({ id: 'Day', description: 'One universal day, from noon to noon UTC' });

interface DayView {
  readonly installationId: string;
  readonly date: string;
  readonly startAtMs: number;
  readonly endAtMs: number;
  readonly day: DayStatistics;
  readonly found: FoundEvents | FeedUnavailable;
}

export function toDayBody(view: DayView): z.infer<typeof dayResponse> {
  const { found } = view;
  return {
    schemaVersion: 1,
    installationId: view.installationId,
    date: view.date,
    startAt: toIsoString(view.startAtMs),
    endAt: toIsoString(view.endAtMs),
    day: encodeDay(view.day),
    events:
      found.status === 'unavailable'
        ? // Without a reading there are no milestones, and that is known.
          found.reason === 'source_disabled'
          ? []
          : null
        : found.events.map((item) => toFeedEventBody(item, found)),
  };
}
