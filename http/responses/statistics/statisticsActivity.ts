import { z } from 'zod';
import { bucketCoverages, type Statistics } from '../../../actors/views/statisticsViews.ts';
import { encodeView } from '../encodeView.ts';
import { decimal, unboundedDecimal } from '../scalars.ts';
import { bps, count, minute } from './statisticsScalars.ts';

const coverageMembers = {
  expectedRoundCount: count.describe('Rounds that have ended and could have been observed'),
  observedRoundCount: count.describe('Rounds of which every instant is covered by readings'),
  coverageBps: bps.describe('Share of the expected rounds that were observed, in basis points, rounded down'),
};

const bucket = z.strictObject({
  startMinuteUtc: minute.describe('Start of the half hour in minutes after midnight UTC'),
  coverage: z
    .enum(bucketCoverages)
    .describe('Whether its three rounds were observed: all, some, none, or they have not ended'),
  observedRoundCount: z.int().min(0).max(3).describe('How many of its three rounds were observed'),
  workUnits: unboundedDecimal
    .nullable()
    .describe(
      'Work of the observed rounds, in work units: zero where none was done, null where none was observed',
    ),
});

export const activity = z.strictObject({
  provenance: z.literal('accepted_rounds').describe('All of it is from rounds that readings cover'),
  coverage: z
    .strictObject({
      ...coverageMembers,
      complete: z.boolean().describe('Whether every expected round was observed'),
    })
    .describe('Of the window'),
  summary: z
    .strictObject({
      observedWorkUnits: unboundedDecimal.describe('Work of the observed rounds, in work units'),
      observedDistanceMm: decimal.describe('Sum of the distances of the days, in millimetres'),
      activeDayCount: count.describe('Days with work'),
      inactiveDayCount: count.describe(
        'Days that were observed completely, without work; a day that is missing is neither',
      ),
      averageWorkPerActiveDayMilli: unboundedDecimal
        .nullable()
        .describe('Average in thousandths of a work unit; null without an active day'),
      medianWorkPerActiveDay: unboundedDecimal
        .nullable()
        .describe('Median in work units; null without an active day'),
      averageDistancePerActiveDayMm: decimal
        .nullable()
        .describe('Average in millimetres; null without an active day'),
      mostActiveDate: z.iso.date().nullable().describe('Day with the most work; null without an active day'),
      mostActiveDateWorkUnits: unboundedDecimal
        .nullable()
        .describe('Its work in work units; null without an active day'),
      peakWindowStartMinuteUtc: minute
        .nullable()
        .describe(
          'Start of the half hour with the most work of a typical day, in minutes after midnight UTC; null without work',
        ),
    })
    .describe('Of the window'),
  days: z
    .array(
      z.strictObject({
        date: z.iso.date().describe('Date of the noon UTC at which the day begins'),
        coverage: z.strictObject(coverageMembers).describe('Of the day'),
        observedWorkUnits: unboundedDecimal.describe('Work of its observed rounds, in work units'),
        distanceMm: decimal
          .nullable()
          .describe(
            'Largest distance that the device reported for the day, in millimetres; null without a reading',
          ),
        buckets: z
          .array(bucket)
          .length(48)
          .describe('Half hours by the clock: the first 24 are of the date after `date`'),
      }),
    )
    .min(7)
    .max(30)
    .refine((days) => days.length === 7 || days.length === 30)
    .describe('7 or 30, oldest first; consecutive'),
  typicalDay: z
    .array(
      z.strictObject({
        startMinuteUtc: minute.describe('Start of the half hour in minutes after midnight UTC'),
        totalWorkUnits: unboundedDecimal.describe('Work of all complete ones, in work units'),
        observedDayCount: count.describe('How many were complete'),
        meanWorkMilli: unboundedDecimal
          .nullable()
          .describe('Mean in thousandths of a work unit; null where none was complete'),
      }),
    )
    .length(48)
    .describe('Each half hour of the clock over all days, from complete half hours alone'),
});

export function toActivityBody({ coverage, summary, days, typicalDay }: Statistics) {
  return {
    provenance: 'accepted_rounds' as const,
    coverage,
    summary: encodeView(summary),
    days: days.map((day) => ({ ...encodeView(day), distanceMm: day.distanceMm?.toString() ?? null })),
    typicalDay: encodeView(typicalDay),
  };
}
