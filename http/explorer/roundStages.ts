import { median, pairs, sort } from 'd3-array';
import { findTime } from './charts/observed.ts';
import type { Bodies, Shown } from './page.ts';
import { roundMs } from './rounds.ts';

/** How far a round has come; each stage follows its predecessor. A closed round is optimistic: it would settle next. */
export type RoundStage = 'measured' | 'optimistic' | 'settled' | 'issued';

export interface StagedRound {
  readonly round: number;
  readonly startAt: string;
  readonly stage: RoundStage;
  readonly isOpen: boolean;
  /** Whether nothing of its half hour was observed, so that its work is unknown. */
  readonly isMissing: boolean;
}

interface StageSources {
  readonly core: Shown<'core'>;
  readonly oracle: Bodies['status']['oracle'];
  /** The newest round that was minted for; null if nothing is known of that. */
  readonly mintedThroughRound: string | null;
  readonly statistics: Bodies['statistics'] | null;
  readonly nowMs: number;
}

/** The newest rounds up to the open one, oldest first. */
export function listStagedRounds(
  { core, oracle, mintedThroughRound, statistics, nowMs }: StageSources,
  count: number,
): StagedRound[] {
  const genesisMs = Number(core.configuration.genesisTimestamp) * 1_000;
  const open = Math.floor((nowMs - genesisMs) / roundMs) + 1;
  const missing = new Set(
    (statistics?.activity.days ?? []).flatMap(({ date, buckets }) =>
      buckets.flatMap((bucket) =>
        bucket.coverage === 'missing' ? [Date.parse(findTime(date, bucket.startMinuteUtc))] : [],
      ),
    ),
  );
  const through: Readonly<Record<Exclude<RoundStage, 'measured'>, number>> = {
    optimistic: Number(oracle.latestClosure?.lastRound ?? 0),
    settled: Number(core.core.settledThroughRound),
    issued: Number(mintedThroughRound ?? 0),
  };
  const rounds = Array.from({ length: count }, (_, index) => open - count + 1 + index);
  return rounds
    .filter((round) => round >= 1)
    .map((round) => {
      const startMs = genesisMs + (round - 1) * roundMs;
      const stage = (['issued', 'settled', 'optimistic'] as const).find((one) => round <= through[one]);
      return {
        round,
        startAt: new Date(startMs).toISOString(),
        stage: stage ?? 'measured',
        isOpen: round === open,
        isMissing: missing.has(Math.floor(startMs / (3 * roundMs)) * 3 * roundMs),
      };
    });
}

/** Gaps from which a usual one is computed. */
const gapsMin = 3;

/**
 * When the next of several similar events, such as batches, is expected.
 *
 * @param times of its newest occurrences, in ISO 8601, in any order.
 * @returns null if it has not happened often enough.
 */
export function expectNext(
  times: readonly string[],
): Readonly<Record<'usualMs' | 'lastMs' | 'nextMs', number>> | null {
  const sorted = sort(times.map((one) => Date.parse(one)));
  const gaps = pairs(sorted, (before, after) => after - before);
  const usualMs = median(gaps);
  const lastMs = sorted.at(-1);
  if (usualMs === undefined || lastMs === undefined || gaps.length < gapsMin) return null;
  return { usualMs, lastMs, nextMs: lastMs + usualMs };
}
