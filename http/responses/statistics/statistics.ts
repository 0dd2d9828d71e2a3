import { z } from 'zod';
import { statisticsRanges } from '../../../actors/statistics/statistics.ts';
import type { OracleStatistics, StatisticsView } from '../../../actors/views/statisticsViews.ts';
import { bucketSeconds, roundSeconds } from '../../../actors/wheel/roundFold.ts';
import { encodeView, toIsoString } from '../encodeView.ts';
import {
  availableStatus,
  decimal,
  defineObject,
  installationId,
  schemaVersion,
  timestamp,
  unavailableStatus,
  unboundedDecimal,
} from '../scalars.ts';
import { activity, bps, count, records, toActivityBody } from './statisticsActivity.ts';

export const statisticsRange = z
  .enum(statisticsRanges)
  .meta({ id: 'StatisticsRange', description: 'Number of universal days' });

const oracle = z
  .discriminatedUnion('status', [
    defineObject('StatisticsOracleAvailable', {
      status: availableStatus,
      coverageStartedAt: timestamp.describe('Time from which submissions are known'),
      completeForWindow: z.boolean().describe('Whether submissions are known from before the window'),
      submissionCount: count.describe('Submissions created in the window, including one in progress'),
      confirmedCount: count.describe('Confirmed submissions of the window'),
      revertedCount: count.describe('Reverted submissions of the window'),
      supersededCount: count.describe('Superseded submissions of the window'),
      confirmedRateBps: bps.describe('Share of confirmed submissions, in basis points'),
      revertedRateBps: bps.describe('Share of reverted submissions, in basis points'),
      supersededRateBps: bps.describe('Share of superseded submissions, in basis points'),
      confirmationLatencyMedianMs: count
        .nullable()
        .describe(
          'Median time from submission to confirmation, in milliseconds; null without a confirmation after its submission',
        ),
      confirmationLatencyP90Ms: count
        .nullable()
        .describe('90th percentile of this time, in milliseconds; null in the same case'),
    }),
    defineObject('StatisticsOracleUnavailable', {
      status: unavailableStatus,
      reason: z
        .enum(['projection_not_initialized', 'insufficient_history'])
        .meta({ id: 'StatisticsOracleReason' })
        .describe('No submission is known yet'),
    }),
  ])
  .meta({ id: 'StatisticsOracle' });

const members = {
  installationId: installationId.describe('The public installation'),
  revision: z.string().min(1).describe('Opaque; changes with the content'),
  generatedAt: timestamp.describe('End of the window'),
  range: statisticsRange.describe('The range of the request'),
  timezone: z.literal('UTC').describe('Days begin at noon in this time zone'),
  window: defineObject('StatisticsWindow', {
    startAt: timestamp.describe('Noon at which the first day begins'),
    endAt: timestamp.describe(
      'The last full half minute before this body was made. Rounds that end later do not count',
    ),
    dayCount: z
      .literal([7, 30])
      .meta({ id: 'DayCount', description: 'Number of universal days' })
      .describe('Number of days in the window'),
    bucketSeconds: z.literal(bucketSeconds).describe('Length of a bucket in seconds'),
    roundSeconds: z.literal(roundSeconds).describe('Length of a round in seconds'),
  }).describe('The current universal day and the 6 or 29 days before it'),
  lifetime: defineObject('StatisticsLifetime', {
    acceptedWorkUnits: unboundedDecimal.describe('Work of all observed rounds, in work units'),
    observedDistanceMm: decimal.describe('Sum of the distances of all days, in millimetres'),
    settledBlockCount: decimal
      .nullable()
      .meta({ description: 'Completed work blocks; null while the chain is unavailable' }),
    settlementCount: decimal.nullable().describe('Settled batches; null while the chain is unavailable'),
    settledWorkUnits: decimal
      .nullable()
      .describe('Settled work in work units; null while the chain is unavailable'),
    activeDayCount: count.describe('Days with work'),
    coverageBps: bps.describe('Share of the expected rounds that were observed, in basis points'),
    firstObservedAt: timestamp
      .nullable()
      .meta({ description: 'Time of the first accepted reading; null before it' }),
  }).describe('Totals since the first accepted reading'),
  activity: activity.describe('Activity of the wheel in the window'),
  records: records.describe(
    'Largest values of the window; null if no value is above zero. Of equal values, the earliest',
  ),
  blocks: defineObject('StatisticsBlocks', {
    status: unavailableStatus,
    reason: z
      .enum(['completion_boundaries_unavailable', 'insufficient_history'])
      .meta({ id: 'StatisticsBlocksReason' })
      .describe('Why the times are unknown'),
  }).describe('Completion times of work blocks, which are not known for the window'),
  rounds: defineObject('StatisticsRounds', {
    observedCount: count.describe('Observed rounds'),
    activeCount: count.describe('Observed rounds with work'),
    zeroWorkCount: count.describe('Observed rounds without work'),
    missingCount: count.describe('Expected rounds that were not observed'),
    activeRateBps: bps.describe('Share of observed rounds with work, in basis points'),
    averageActiveWorkMilli: unboundedDecimal
      .nullable()
      .describe(
        'Average work of an active round, in thousandths of a work unit; null without an active round',
      ),
    medianActiveWork: unboundedDecimal
      .nullable()
      .describe('Median work of an active round, in work units; null without an active round'),
    p90ActiveWork: unboundedDecimal
      .nullable()
      .describe('90th percentile of the work of active rounds, in work units; null without an active round'),
    mostActiveWork: unboundedDecimal
      .nullable()
      .describe('Most work of a round, in work units; null without an active round'),
  }).describe('Rounds of the window'),
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

export function toStatisticsBody<Version extends number>(
  version: Version,
  { installationId: id, revision, statistics, settled, oracle: submissions }: StatisticsView,
) {
  const { lifetime, generatedAtMs, windowStartMs, dayCount } = statistics;
  return {
    schemaVersion: version,
    installationId: id,
    revision,
    generatedAt: toIsoString(generatedAtMs),
    range: statistics.range,
    timezone: 'UTC' as const,
    window: {
      startAt: toIsoString(windowStartMs),
      endAt: toIsoString(generatedAtMs),
      dayCount,
      bucketSeconds,
      roundSeconds,
    },
    lifetime: encodeView({
      ...lifetime,
      settledBlockCount: settled?.settledBlockCount ?? null,
      settlementCount: settled?.settlementCount ?? null,
      settledWorkUnits: settled?.settledWorkUnits ?? null,
    }),
    activity: toActivityBody(statistics),
    records: encodeView(statistics.records),
    blocks: { status: 'unavailable' as const, reason: 'completion_boundaries_unavailable' as const },
    rounds: encodeView(statistics.rounds),
    oracle: toOracleBody(submissions),
  };
}

function toOracleBody(view: OracleStatistics | null): z.infer<typeof oracle> {
  if (view === null) return { status: 'unavailable', reason: 'projection_not_initialized' };
  return { status: 'available', ...encodeView(view) };
}
