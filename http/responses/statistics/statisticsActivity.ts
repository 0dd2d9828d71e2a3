import { z } from 'zod';
import { bucketCoverages, type DayStatistics } from '../../../actors/statistics/dayStatistics.ts';
import type { Statistics } from '../../../actors/statistics/statistics.ts';
import { encodeView } from '../encodeView.ts';
import { decimal, defineObject, timestamp, unboundedDecimal } from '../scalars.ts';

export const count = z.int().min(0);

export const bps = z.int().min(0).max(10_000);

const minute = z.int().min(0).max(1_410).multipleOf(30);

const coverageMembers = {
  expectedRoundCount: count.describe('Rounds that have ended and could have been observed'),
  observedRoundCount: count.describe('Rounds that readings cover without a gap'),
  coverageBps: bps.describe('Share of the expected rounds that were observed, in basis points, rounded down'),
};

const halfHour = defineObject('HalfHour', {
  startMinuteUtc: minute.describe('Start of the half hour in minutes after midnight UTC'),
  coverage: z
    .enum(bucketCoverages)
    .meta({ id: 'HalfHourCoverage' })
    .describe(
      'Whether all, some or none of its three rounds were observed; `future` if the first has not ended',
    ),
  observedRoundCount: z.int().min(0).max(3).describe('Number of its three rounds that were observed'),
  workUnits: unboundedDecimal
    .nullable()
    .describe('Work of the observed rounds, in work units; null if no round was observed'),
});

export const day = defineObject('StatisticsDay', {
  date: z.iso.date().describe('Date of the noon UTC at which the day begins'),
  coverage: defineObject('DayCoverage', coverageMembers).describe('Coverage of the day'),
  observedWorkUnits: unboundedDecimal.describe('Work of its observed rounds, in work units'),
  distanceMm: decimal
    .nullable()
    .describe(
      'Distance of the day in millimetres, the largest that the device reported for it; null without a reading',
    ),
  buckets: z
    .array(halfHour)
    .length(48)
    .describe('Half hours in clock order; the first 24 belong to the date after `date`'),
});

export const activity = defineObject('StatisticsActivity', {
  provenance: z.literal('accepted_rounds').describe('Only rounds that readings cover are counted'),
  coverage: defineObject('StatisticsActivityCoverage', {
    ...coverageMembers,
    complete: z.boolean().describe('Whether every expected round was observed'),
  }).describe('Coverage of the window'),
  summary: defineObject('StatisticsActivitySummary', {
    observedWorkUnits: unboundedDecimal.describe('Work of the observed rounds, in work units'),
    observedDistanceMm: decimal.describe('Sum of the distances of the days, in millimetres'),
    activeDayCount: count.describe('Days with work'),
    inactiveDayCount: count.describe(
      'Completely observed days without work. A missing day is neither active nor inactive',
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
      .describe('Work of that day, in work units; null without an active day'),
    peakWindowStartMinuteUtc: minute
      .nullable()
      .describe(
        'Start of the typical day’s half hour with the most work, in minutes after midnight UTC; null without work',
      ),
  }).describe('Totals and averages of the window'),
  days: z
    .array(day)
    .min(7)
    .max(30)
    .refine((days) => days.length === 7 || days.length === 30)
    .describe('7 or 30 consecutive days, oldest first'),
  typicalDay: z
    .array(
      defineObject('TypicalHalfHour', {
        startMinuteUtc: minute.describe('Start of the half hour in minutes after midnight UTC'),
        totalWorkUnits: unboundedDecimal.describe('Work of this half hour over all days, in work units'),
        observedDayCount: count.describe('Number of days on which it was complete'),
        meanWorkMilli: unboundedDecimal
          .nullable()
          .describe('Mean work in thousandths of a work unit; null if it was never complete'),
      }),
    )
    .length(48)
    .describe('Each half hour of the clock over all days; only complete half hours count'),
});

export function toActivityBody({ coverage, summary, days, typicalDay }: Statistics) {
  return {
    provenance: 'accepted_rounds' as const,
    coverage,
    summary: encodeView(summary),
    days: days.map(encodeDay),
    typicalDay: encodeView(typicalDay),
  };
}

export function encodeDay(known: DayStatistics) {
  return { ...encodeView(known), distanceMm: known.distanceMm?.toString() ?? null };
}

const record = defineObject('StatisticsRecord', {
  value: unboundedDecimal.describe(
    'The value, in the unit of the record’s name; work in work units, a streak in days',
  ),
  occurredAt: timestamp.describe(
    'Start of the half hour, day or run; for a peak, when the device took the reading',
  ),
  coverage: z
    .enum(['complete', 'partial'])
    .meta({ id: 'StatisticsRecordCoverage' })
    .describe('Whether the record’s whole span was observed'),
}).nullable();

export const records = defineObject('StatisticsRecords', {
  mostWorkHalfHour: record.describe('Most work in a half hour, in work units'),
  mostWorkUtcDay: record.describe('Most work in a universal day, in work units'),
  maximumDailyDistanceMm: record.describe('Longest distance of a universal day, in millimetres'),
  peakObservedRpmMilli: record.describe(
    'Highest speed of rotation, in thousandths of revolutions per minute',
  ),
  peakObservedSpeedMmPerSecond: record.describe('Highest speed, in millimetres per second'),
  longestActiveWindowMinutes: record.describe('Longest run of observed rounds with work, in minutes'),
  longestActiveDayStreak: record.describe('Longest run of days with work, in days'),
});
