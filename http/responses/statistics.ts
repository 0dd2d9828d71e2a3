import { z } from 'zod';
import {
  bucketCoverages,
  type OracleStatistics,
  type Statistics,
  type StatisticsView,
  statisticsRanges,
} from '../../actors/views/statisticsViews.ts';
import { toIsoString, toIsoStringOrNull } from './isoTime.ts';
import { decimal, installationId, timestamp, unboundedDecimal } from './scalars.ts';

const count = z.int().min(0);
const bps = z.int().min(0).max(10_000);
const minute = z.int().min(0).max(1_410).multipleOf(30);
const coverageMembers = { expectedRoundCount: count, observedRoundCount: count, coverageBps: bps };

const bucket = z.strictObject({
  startMinuteUtc: minute,
  coverage: z.enum(bucketCoverages),
  observedRoundCount: z.int().min(0).max(3),
  workUnits: unboundedDecimal.nullable(),
});

const record = z
  .strictObject({ value: unboundedDecimal, occurredAt: timestamp, coverage: z.enum(['complete', 'partial']) })
  .nullable();

const oracle = z.discriminatedUnion('status', [
  z.strictObject({
    status: z.literal('available'),
    coverageStartedAt: timestamp,
    completeForWindow: z.boolean(),
    submissionCount: count,
    confirmedCount: count,
    revertedCount: count,
    supersededCount: count,
    confirmedRateBps: bps,
    revertedRateBps: bps,
    supersededRateBps: bps,
    confirmationLatencyMedianMs: count.nullable(),
    confirmationLatencyP90Ms: count.nullable(),
  }),
  z.strictObject({
    status: z.literal('unavailable'),
    reason: z.enum(['projection_not_initialized', 'insufficient_history']),
  }),
]);

const members = {
  installationId,
  revision: z.string().min(1),
  generatedAt: timestamp,
  range: z.enum(statisticsRanges),
  timezone: z.literal('UTC'),
  window: z.strictObject({
    startAt: timestamp,
    endAt: timestamp,
    dayCount: z.union([z.literal(7), z.literal(30)]),
    bucketSeconds: z.literal(1800),
    roundSeconds: z.literal(600),
  }),
  lifetime: z.strictObject({
    acceptedWorkUnits: unboundedDecimal,
    observedDistanceMm: decimal,
    settledBlockCount: decimal.nullable().meta({ description: 'Null while the chain view is unavailable' }),
    settlementCount: decimal.nullable(),
    settledWorkUnits: decimal.nullable(),
    activeDayCount: count,
    coverageBps: bps,
    firstObservedAt: timestamp.nullable().meta({ description: 'Null before the first accepted reading' }),
  }),
  activity: z.strictObject({
    provenance: z.literal('accepted_rounds'),
    coverage: z.strictObject({ ...coverageMembers, complete: z.boolean() }),
    summary: z.strictObject({
      observedWorkUnits: unboundedDecimal,
      observedDistanceMm: decimal,
      activeDayCount: count,
      inactiveDayCount: count,
      averageWorkPerActiveDayMilli: unboundedDecimal.nullable(),
      medianWorkPerActiveDay: unboundedDecimal.nullable(),
      averageDistancePerActiveDayMm: decimal.nullable(),
      mostActiveDate: z.iso.date().nullable(),
      mostActiveDateWorkUnits: unboundedDecimal.nullable(),
      peakWindowStartMinuteUtc: minute.nullable(),
    }),
    days: z
      .array(
        z.strictObject({
          date: z.iso.date(),
          coverage: z.strictObject(coverageMembers),
          observedWorkUnits: unboundedDecimal,
          distanceMm: decimal.nullable(),
          buckets: z.array(bucket).length(48),
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
      }),
    typicalDay: z
      .array(
        z.strictObject({
          startMinuteUtc: minute,
          totalWorkUnits: unboundedDecimal,
          observedDayCount: count,
          meanWorkMilli: unboundedDecimal.nullable(),
        }),
      )
      .length(48),
  }),
  records: z.strictObject({
    mostWorkHalfHour: record,
    mostWorkUtcDay: record,
    maximumDailyDistanceMm: record,
    peakObservedRpmMilli: record,
    peakObservedSpeedMmPerSecond: record,
    longestActiveWindowMinutes: record,
    longestActiveDayStreak: record,
  }),
  blocks: z.strictObject({
    status: z.literal('unavailable'),
    reason: z.enum(['completion_boundaries_unavailable', 'insufficient_history']),
  }),
  rounds: z.strictObject({
    observedCount: count,
    activeCount: count,
    zeroWorkCount: count,
    missingCount: count,
    activeRateBps: bps,
    averageActiveWorkMilli: unboundedDecimal.nullable(),
    medianActiveWork: unboundedDecimal.nullable(),
    p90ActiveWork: unboundedDecimal.nullable(),
    mostActiveWork: unboundedDecimal.nullable(),
  }),
  oracle,
};

export const publicStatisticsResponse = z
  .strictObject({ schemaVersion: z.literal(2), ...members })
  .refine(hasDaysOfWindow)
  .meta({ id: 'PublicStatistics', description: 'Statistics of the public route' });
export const plainStatisticsResponse = z
  .strictObject({ schemaVersion: z.literal(1), ...members })
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
