import type { BucketRow, RoundRow } from '../storedRows.ts';
import type { AcceptedReading } from './acceptedReading.ts';
import {
  type ClosedRows,
  findBucketStart,
  type OpenBucket,
  type RoundState,
  recentRoundsMax,
} from './roundFold.ts';

/** Rounds and buckets at the end of a range that began knowing one reading alone ({@link beginRounds}). */
export interface RangeRounds {
  readonly roundState: RoundState;
  /** The round that was open at that reading, as it closed: covered since then, with its work since then; null otherwise. */
  readonly round: RoundRow | null;
  /** Whether that round is open still. */
  readonly isRoundOpen: boolean;
  /** The bucket that was open at that reading, as it closed, of what came since; null while it is open. */
  readonly bucket: BucketRow | null;
}

/** Less than any measurement. */
const nothingMeasured = -1;

/**
 * The state at `reading` for a fold that does not know what came before: it takes everything until then for covered, and counts from
 * nothing. What it makes differs from the truth only in the round and the bucket that are open.
 */
export function beginRounds(reading: AcceptedReading): RoundState {
  return {
    coveredFromMs: Number.NEGATIVE_INFINITY,
    openRoundWorkUnits: 0n,
    bucket: {
      startMs: findBucketStart(reading.observedAtMs),
      observedRoundCount: 0,
      workUnits: 0n,
      readingCount: 0,
      maxDistanceMm: nothingMeasured,
      peakRpmMilli: nothingMeasured,
      peakRpmAtMs: 0,
      peakSpeedMmPerSecond: nothingMeasured,
      peakSpeedAtMs: 0,
    },
    recentRounds: [],
  };
}

/** The state after a range, and what of the rounds and buckets that were open before it the range has closed. */
export function joinRounds(
  before: RoundState,
  { roundState, round: since, isRoundOpen, bucket: closedSince }: RangeRounds,
): { readonly state: RoundState; readonly closed: ClosedRows } {
  const isObserved = since !== null && before.coveredFromMs <= since.startMs;
  const round = isObserved ? { ...since, workUnits: before.openRoundWorkUnits + since.workUnits } : null;
  const join = <Bucket extends OpenBucket>(bucket: Bucket) =>
    joinBuckets(before.bucket, bucket, { counted: since, observed: round });
  const recent = roundState.recentRounds
    .filter(({ roundId }) => isObserved || roundId !== since?.roundId)
    .map((one) => (one.roundId === round?.roundId ? { ...one, workUnits: round.workUnits } : one));
  return {
    state: {
      coveredFromMs:
        roundState.coveredFromMs === Number.NEGATIVE_INFINITY
          ? before.coveredFromMs
          : roundState.coveredFromMs,
      openRoundWorkUnits: (isRoundOpen ? before.openRoundWorkUnits : 0n) + roundState.openRoundWorkUnits,
      bucket: closedSince === null ? join(roundState.bucket) : roundState.bucket,
      recentRounds: [...before.recentRounds, ...recent].slice(-recentRoundsMax),
    },
    closed: { round, bucket: closedSince === null ? null : join(closedSince) },
  };
}

/**
 * A bucket of what came before and since.
 *
 * @param counted the round that `since` has counted and that began before it; `observed` is that round as it was.
 */
function joinBuckets<Bucket extends OpenBucket>(
  before: OpenBucket,
  since: Bucket,
  { counted, observed }: { readonly counted: RoundRow | null; readonly observed: RoundRow | null },
): Bucket {
  const isRpmPeak = since.peakRpmMilli > before.peakRpmMilli;
  const isSpeedPeak = since.peakSpeedMmPerSecond > before.peakSpeedMmPerSecond;
  const countOf = (round: RoundRow | null) => (round === null ? 0 : 1);
  const workOf = (round: RoundRow | null) => round?.workUnits ?? 0n;
  return {
    ...since,
    observedRoundCount:
      before.observedRoundCount + since.observedRoundCount - countOf(counted) + countOf(observed),
    workUnits: before.workUnits + since.workUnits - workOf(counted) + workOf(observed),
    readingCount: before.readingCount + since.readingCount,
    maxDistanceMm: Math.max(before.maxDistanceMm, since.maxDistanceMm),
    peakRpmMilli: isRpmPeak ? since.peakRpmMilli : before.peakRpmMilli,
    peakRpmAtMs: isRpmPeak ? since.peakRpmAtMs : before.peakRpmAtMs,
    peakSpeedMmPerSecond: isSpeedPeak ? since.peakSpeedMmPerSecond : before.peakSpeedMmPerSecond,
    peakSpeedAtMs: isSpeedPeak ? since.peakSpeedAtMs : before.peakSpeedAtMs,
  };
}
