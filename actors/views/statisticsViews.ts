import { cacheView } from '../caching/cacheView.ts';
import { memoizeByIdentity } from '../caching/memoizeByIdentity.ts';
import { countWholeBlocks } from '../chain/state/blockUnits.ts';
import { type ChainState, countSettlements } from '../chain/state/chainState.ts';
import type { Clock } from '../clock.ts';
import type { ReadOlderDay } from '../pages/olderRows.ts';
import { dayMs } from '../schemas/durations.ts';
import type { Settlement } from '../settlement/settlementActor.ts';
import { computeBps, computeMedian, findP90, sortAscending } from '../statistics/arithmetic.ts';
import { computeDay, type DayStatistics, findExpectedPlaces, noRounds } from '../statistics/dayStatistics.ts';
import {
  computeStatistics,
  type Statistics,
  type StatisticsRange,
  sumDays,
} from '../statistics/statistics.ts';
import { type DayHistory, findDay } from '../wheel/dayHistory.ts';
import { computeRevision } from './revision.ts';

/**
 * Windows end at multiples of this interval, so that instances with the same data show the same statistics (CONTRACT.md, Caching).
 * Rounds and days end at such moments too, so they are shown without delay.
 */
const windowStepMs = 30_000;
/** The plain route is recomputed when data changes, at most once per interval. */
const refreshedMs = 1_000;

export type OracleStatistics = NonNullable<ReturnType<typeof computeOracleStatistics>>;

export interface StatisticsView {
  readonly installationId: string;
  readonly revision: string;
  readonly statistics: Statistics;
  /** Null while the chain cannot be shown. */
  readonly settled: {
    readonly settledBlockCount: bigint;
    readonly settlementCount: bigint;
    readonly settledWorkUnits: bigint;
  } | null;
  /** Null before the first submission. */
  readonly oracle: OracleStatistics | null;
}

interface StatisticsViewsOptions {
  readonly installationId: string;
  readonly history: () => DayHistory | null;
  readonly settlement: () => Settlement;
  /** The newest safe state; null while the chain cannot be shown. */
  readonly chain: () => ChainState | null;
  readonly olderDay: ReadOlderDay;
  readonly genesisMs: number;
  readonly clock: Clock;
}

export type StatisticsViews = ReturnType<typeof createStatisticsViews>;

export function createStatisticsViews(options: StatisticsViewsOptions) {
  const { installationId, genesisMs, clock } = options;
  const sumPast = memoizeByIdentity(sumDays);
  const findWindowEndMs = () => Math.floor(clock.nowMs() / windowStepMs) * windowStepMs;

  function compute(range: StatisticsRange): StatisticsView {
    const statistics = computeStatistics(range, {
      history: options.history(),
      genesisMs,
      generatedAtMs: findWindowEndMs(),
      sumPast,
    });
    const chain = options.chain();
    const settled =
      chain === null
        ? null
        : {
            settledBlockCount: countWholeBlocks(chain.core.cumulativeBlockUnits),
            settlementCount: BigInt(countSettlements(chain)),
            settledWorkUnits: chain.core.cumulativeWork,
          };
    const oracle = computeOracleStatistics(options.settlement(), statistics.windowStartMs);
    return {
      installationId,
      revision: computeRevision([statistics, settled, oracle]),
      statistics,
      settled,
      oracle,
    };
  }

  /**
   * Views to recompute at once. After a start the chain may become available a moment later than the readings. A view of an earlier
   * window would differ from other instances.
   */
  const isOutdated = ({ statistics, settled }: StatisticsView) =>
    statistics.generatedAtMs !== findWindowEndMs() || (settled === null && options.chain() !== null);

  const cachePublic = (range: StatisticsRange) =>
    cacheView({
      inputs: () => [],
      compute: () => compute(range),
      validity: { clock, maxAgeMs: windowStepMs, isOutdated },
    });
  const cachePlain = (range: StatisticsRange) =>
    cacheView({
      inputs: () => [options.history(), options.settlement(), options.chain()],
      compute: () => compute(range),
      validity: { clock, minAgeMs: refreshedMs, maxAgeMs: windowStepMs, isOutdated },
    });
  const publicViews = { '7d': cachePublic('7d'), '30d': cachePublic('30d') };
  const plainViews = { '7d': cachePlain('7d'), '30d': cachePlain('30d') };

  /** A universal day by its start (epoch milliseconds): a recent one from memory, an older one from rows. */
  function day(startMs: number, signal: AbortSignal): DayStatistics | Promise<DayStatistics> {
    const { days, windowStartMs, generatedAtMs } = plainViews['30d']().statistics;
    const recent = days[(startMs - windowStartMs) / dayMs];
    if (recent !== undefined) return recent;
    const places = findExpectedPlaces(startMs, genesisMs, generatedAtMs);
    const summary = findDay(options.history(), startMs);
    const build = (rounds: ReadonlyMap<number, bigint>) =>
      computeDay({ startMs, summary, rounds, ...places }, generatedAtMs);
    // Before the genesis and in the future there are no rounds.
    if (places.expectedThrough === places.expectedFrom) return build(noRounds);
    const observed = summary?.observedRoundCount ?? 0;
    return options.olderDay(installationId, { startMs, observed }, signal).then(build);
  }

  return {
    day,
    /** For the public route: the same until the window moves, once the chain can be shown. */
    publicView: (range: StatisticsRange) => publicViews[range](),
    /** For the plain route: also changes with the data. */
    plainView: (range: StatisticsRange) => plainViews[range](),
  };
}

/** Submissions of the window and their outcomes; null before the first submission. */
function computeOracleStatistics(
  { snapshot, submissionsSinceMs, endedSubmissions }: Settlement,
  windowStartMs: number,
) {
  const { submission } = snapshot.context;
  if (submissionsSinceMs === null) return null;
  const ended = endedSubmissions.toArray().filter(({ createdAtMs }) => createdAtMs >= windowStartMs);
  const isUnderWay =
    submission !== null &&
    snapshot.matches({ submission: 'underWay' }) &&
    submission.createdAtMs >= windowStartMs;
  const submissionCount = ended.length + (isUnderWay ? 1 : 0);
  const countOutcome = (outcome: (typeof ended)[number]['outcome']) =>
    ended.filter((one) => one.outcome === outcome).length;
  const [confirmedCount, revertedCount, supersededCount] = [
    countOutcome('confirmed'),
    countOutcome('reverted'),
    countOutcome('superseded'),
  ];
  const latencies = ended
    .flatMap(({ outcome, submittedAtMs, terminalAtMs }) =>
      outcome === 'confirmed' && submittedAtMs !== null ? [BigInt(terminalAtMs - submittedAtMs)] : [],
    )
    // If the reporter's clock was set back in between, the latency is unknown.
    .filter((latencyMs) => latencyMs >= 0n);
  const toNumber = (value: bigint | null) => (value === null ? null : Number(value));
  return {
    coverageStartedAtMs: submissionsSinceMs,
    completeForWindow: submissionsSinceMs <= windowStartMs,
    submissionCount,
    confirmedCount,
    revertedCount,
    supersededCount,
    confirmedRateBps: computeBps(confirmedCount, submissionCount),
    revertedRateBps: computeBps(revertedCount, submissionCount),
    supersededRateBps: computeBps(supersededCount, submissionCount),
    /** From submission to confirmation; null without a confirmed submission. */
    confirmationLatencyMedianMs: toNumber(computeMedian(latencies)),
    confirmationLatencyP90Ms: toNumber(findP90(sortAscending(latencies))),
  };
}
