import { z } from 'zod';
import {
  bucketCoverages,
  type OracleStatistics,
  type Statistics,
  type StatisticsView,
  statisticsRanges,
} from '../../actors/views/statisticsViews.ts';
import { toIsoString, toIsoStringOrNull } from './isoTime.ts';
import {
  availableStatus,
  decimal,
  generatedAt,
  installationId,
  schemaVersion,
  timestamp,
  unavailableStatus,
  unboundedDecimal,
} from './scalars.ts';

const count = z.int().min(0);
const bps = z.int().min(0).max(10_000);
const minute = z.int().min(0).max(1_410).multipleOf(30);
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

const record = z
  .strictObject({
    value: unboundedDecimal.describe(
      'The value, in the unit that the name of the record says; work in work units, a streak in days',
    ),
    occurredAt: timestamp.describe(
      'Start of the half hour, day or run; of a peak, when the device took the reading',
    ),
    coverage: z.enum(['complete', 'partial']).describe('Whether all that the record spans was observed'),
  })
  .nullable();

const oracle = z.discriminatedUnion('status', [
  z.strictObject({
    status: availableStatus,
    coverageStartedAt: timestamp.describe('Since when submissions are known'),
    completeForWindow: z.boolean().describe('Whether that is since before the window'),
    submissionCount: count.describe('Submissions that were created in the window, those under way too'),
    confirmedCount: count.describe('Of these the confirmed ones'),
    revertedCount: count.describe('Of these the reverted ones'),
    supersededCount: count.describe('Of these the superseded ones'),
    confirmedRateBps: bps.describe('Share of the confirmed ones in basis points'),
    revertedRateBps: bps.describe('Share of the reverted ones in basis points'),
    supersededRateBps: bps.describe('Share of the superseded ones in basis points'),
    confirmationLatencyMedianMs: count
      .nullable()
      .describe('Median from submission to confirmation in milliseconds; null without a confirmed one'),
    confirmationLatencyP90Ms: count
      .nullable()
      .describe('90th percentile of the same; null without a confirmed one'),
  }),
  z.strictObject({
    status: unavailableStatus,
    reason: z
      .enum(['projection_not_initialized', 'insufficient_history'])
      .describe('No submission is known yet'),
  }),
]);

const members = {
  installationId: installationId.describe('The public installation'),
  revision: z.string().min(1).describe('Opaque; changes with the content'),
  generatedAt,
  range: z.enum(statisticsRanges).describe('The range of the request'),
  timezone: z.literal('UTC').describe('Days begin at noon of this time zone'),
  window: z
    .strictObject({
      startAt: timestamp.describe('Noon at which the first day begins'),
      endAt: timestamp.describe('When this body was made: rounds that have not ended then do not count'),
      dayCount: z.union([z.literal(7), z.literal(30)]).describe('Days of the window'),
      bucketSeconds: z.literal(1800).describe('Length of a bucket in seconds'),
      roundSeconds: z.literal(600).describe('Length of a round in seconds'),
    })
    .describe('The universal day of now and the 6 or 29 before it'),
  lifetime: z
    .strictObject({
      acceptedWorkUnits: unboundedDecimal.describe('Work of all observed rounds, in work units'),
      observedDistanceMm: decimal.describe('Sum of the distances of all days, in millimetres'),
      settledBlockCount: decimal.nullable().meta({ description: 'Null while the chain view is unavailable' }),
      settlementCount: decimal.nullable().describe('Settled batches; null while the chain is unavailable'),
      settledWorkUnits: decimal
        .nullable()
        .describe('Settled work in work units; null while the chain is unavailable'),
      activeDayCount: count.describe('Days with work'),
      coverageBps: bps.describe('Share of the expected rounds that were observed, in basis points'),
      firstObservedAt: timestamp.nullable().meta({ description: 'Null before the first accepted reading' }),
    })
    .describe('Since the first accepted reading'),
  activity: z
    .strictObject({
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
          mostActiveDate: z.iso
            .date()
            .nullable()
            .describe('Day with the most work; null without an active day'),
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
        .meta({
          anyOf: [
            { minItems: 7, maxItems: 7 },
            { minItems: 30, maxItems: 30 },
          ],
        })
        .describe('Oldest first; consecutive'),
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
    })
    .describe('What the wheel did in the window'),
  records: z
    .strictObject({
      mostWorkHalfHour: record.describe('Most work in a half hour, in work units'),
      mostWorkUtcDay: record.describe('Most work in a universal day, in work units'),
      maximumDailyDistanceMm: record.describe('Longest distance of a universal day, in millimetres'),
      peakObservedRpmMilli: record.describe(
        'Highest speed of rotation, in thousandths of revolutions per minute',
      ),
      peakObservedSpeedMmPerSecond: record.describe('Highest speed, in millimetres per second'),
      longestActiveWindowMinutes: record.describe('Longest run of observed rounds with work, in minutes'),
      longestActiveDayStreak: record.describe('Longest run of days with work, in days'),
    })
    .describe(
      'Largest values of the window, each null where there is none above zero; the earliest of equal ones',
    ),
  blocks: z
    .strictObject({
      status: unavailableStatus,
      reason: z
        .enum(['completion_boundaries_unavailable', 'insufficient_history'])
        .describe('What is missing'),
    })
    .describe('When work blocks were completed, which is not known for the window'),
  rounds: z
    .strictObject({
      observedCount: count.describe('Observed rounds'),
      activeCount: count.describe('Of these those with work'),
      zeroWorkCount: count.describe('Of these those without work'),
      missingCount: count.describe('Expected rounds that were not observed'),
      activeRateBps: bps.describe('Share of the observed rounds that had work, in basis points'),
      averageActiveWorkMilli: unboundedDecimal
        .nullable()
        .describe('Average work of an active round in thousandths of a work unit; null without one'),
      medianActiveWork: unboundedDecimal
        .nullable()
        .describe('Median work of an active round in work units; null without one'),
      p90ActiveWork: unboundedDecimal
        .nullable()
        .describe('90th percentile of the work of active rounds in work units; null without one'),
      mostActiveWork: unboundedDecimal
        .nullable()
        .describe('Most work of a round in work units; null without an active one'),
    })
    .describe('Of the window'),
  oracle: oracle.describe('Submissions of the window'),
};

export const publicStatisticsResponse = z
  .strictObject({ schemaVersion: schemaVersion(2), ...members })
  .refine(hasDaysOfWindow)
  .meta({ id: 'PublicStatistics', description: 'Statistics of the public route' });
export const plainStatisticsResponse = z
  .strictObject({ schemaVersion: schemaVersion(1), ...members })
  .refine(hasDaysOfWindow)
  .meta({ id: 'Statistics', description: 'Statistics of the plain route' });

function hasDaysOfWindow(body: {
  readonly window: { readonly dayCount: number };
  readonly activity: { readonly days: readonly unknown[] };
}): boolean {
  return body.activity.days.length === body.window.dayCount;
}

export function toPublicStatisticsBody(view: StatisticsView): z.infer<typeof publicStatisticsResponse> {
  return { schemaVersion: 2, ...body(view) };
}

export function toPlainStatisticsBody(view: StatisticsView): z.infer<typeof plainStatisticsResponse> {
  return { schemaVersion: 1, ...body(view) };
}

function body({ installationId: id, revision, statistics, settled, oracle: submissions }: StatisticsView) {
  const { lifetime, coverage, summary, generatedAtMs, windowStartMs, dayCount } = statistics;
  return {
    installationId: id,
    revision,
    generatedAt: toIsoString(generatedAtMs),
    range: statistics.range,
    timezone: 'UTC' as const,
    window: {
      startAt: toIsoString(windowStartMs),
      endAt: toIsoString(generatedAtMs),
      dayCount,
      bucketSeconds: 1800 as const,
      roundSeconds: 600 as const,
    },
    lifetime: {
      acceptedWorkUnits: lifetime.acceptedWorkUnits.toString(),
      observedDistanceMm: lifetime.observedDistanceMm.toString(),
      settledBlockCount: settled?.settledBlockCount.toString() ?? null,
      settlementCount: settled?.settlementCount.toString() ?? null,
      settledWorkUnits: settled?.settledWorkUnits.toString() ?? null,
      activeDayCount: lifetime.activeDayCount,
      coverageBps: lifetime.coverageBps,
      firstObservedAt: toIsoStringOrNull(lifetime.firstObservedAtMs),
    },
    activity: {
      provenance: 'accepted_rounds' as const,
      coverage,
      summary: {
        ...summary,
        observedWorkUnits: summary.observedWorkUnits.toString(),
        observedDistanceMm: summary.observedDistanceMm.toString(),
        averageWorkPerActiveDayMilli: textOrNull(summary.averageWorkPerActiveDayMilli),
        medianWorkPerActiveDay: textOrNull(summary.medianWorkPerActiveDay),
        averageDistancePerActiveDayMm: textOrNull(summary.averageDistancePerActiveDayMm),
        mostActiveDateWorkUnits: textOrNull(summary.mostActiveDateWorkUnits),
      },
      days: statistics.days.map((day) => ({
        date: day.date,
        coverage: day.coverage,
        observedWorkUnits: day.observedWorkUnits.toString(),
        distanceMm: textOrNull(day.distanceMm),
        buckets: day.buckets.map((one) => ({ ...one, workUnits: textOrNull(one.workUnits) })),
      })),
      typicalDay: statistics.typicalDay.map((one) => ({
        ...one,
        totalWorkUnits: one.totalWorkUnits.toString(),
        meanWorkMilli: textOrNull(one.meanWorkMilli),
      })),
    },
    records: toRecordsBody(statistics.records),
    blocks: { status: 'unavailable' as const, reason: 'completion_boundaries_unavailable' as const },
    rounds: {
      ...statistics.rounds,
      averageActiveWorkMilli: textOrNull(statistics.rounds.averageActiveWorkMilli),
      medianActiveWork: textOrNull(statistics.rounds.medianActiveWork),
      p90ActiveWork: textOrNull(statistics.rounds.p90ActiveWork),
      mostActiveWork: textOrNull(statistics.rounds.mostActiveWork),
    },
    oracle: toOracleBody(submissions),
  };
}

function toRecordsBody(records: Statistics['records']) {
  return {
    mostWorkHalfHour: toRecordBody(records.mostWorkHalfHour),
    mostWorkUtcDay: toRecordBody(records.mostWorkUtcDay),
    maximumDailyDistanceMm: toRecordBody(records.maximumDailyDistanceMm),
    peakObservedRpmMilli: toRecordBody(records.peakObservedRpmMilli),
    peakObservedSpeedMmPerSecond: toRecordBody(records.peakObservedSpeedMmPerSecond),
    longestActiveWindowMinutes: toRecordBody(records.longestActiveWindowMinutes),
    longestActiveDayStreak: toRecordBody(records.longestActiveDayStreak),
  };
}

function toRecordBody(view: Statistics['records']['mostWorkHalfHour']): z.infer<typeof record> {
  if (view === null) return null;
  return {
    value: view.value.toString(),
    occurredAt: toIsoString(view.occurredAtMs),
    coverage: view.coverage,
  };
}

function toOracleBody(view: OracleStatistics | null): z.infer<typeof oracle> {
  if (view === null) return { status: 'unavailable', reason: 'projection_not_initialized' };
  const { coverageStartedAtMs, ...rest } = view;
  return { status: 'available', coverageStartedAt: toIsoString(coverageStartedAtMs), ...rest };
}

function textOrNull(value: bigint | number | null): string | null {
  return value === null ? null : value.toString();
}
