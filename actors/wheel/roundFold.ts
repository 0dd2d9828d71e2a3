import type { BucketRow, RoundRow } from '../storedRows.ts';
import type { AcceptedReading } from './acceptedReading.ts';

/** Seconds of a round (CONTRACT.md, Time, rounds and days). */
export const roundSeconds = 600 as const;
/** Seconds of a half-hour bucket: three rounds (CONTRACT.md, Time, rounds and days). */
export const bucketSeconds = 1800 as const;
/** Two readings further apart cover nothing between them (CONTRACT.md, Time, rounds and days). */
export const coveringGapSeconds = 120;

/** A day of rounds: what is not closed by the oracle within it is projected no more. */
export const recentRoundsMax = 144;

export const roundMs = roundSeconds * 1000;
export const bucketMs = bucketSeconds * 1000;
const coveringGapMs = coveringGapSeconds * 1000;

/** Number of the round that holds a time: 1 starts at the genesis; below 1 is before it. */
export function findRound(timeMs: number, genesisMs: number): number {
  return Math.floor((timeMs - genesisMs) / roundMs) + 1;
}

function computeRoundStart(roundId: number, genesisMs: number): number {
  return genesisMs + (roundId - 1) * roundMs;
}

/** Start of the half-hour bucket that holds a time (epoch milliseconds). */
function findBucketStart(timeMs: number): number {
  return Math.floor(timeMs / bucketMs) * bucketMs;
}

/** The bucket that holds the newest reading. */
interface OpenBucket extends Omit<BucketRow, 'installationId' | 'position'> {}

/** Rounds and buckets of one installation, as far as its readings show. Immutable. */
export interface RoundState {
  /** Start of the unbroken run of covered instants that ends at the newest reading (epoch milliseconds). */
  readonly coveredFromMs: number;
  /** Work of the round that holds the newest reading, so far. */
  readonly openRoundWorkUnits: bigint;
  readonly bucket: OpenBucket;
  /** The newest observed rounds, ascending, at most {@link recentRoundsMax}. */
  readonly recentRounds: readonly RecentRound[];
}

/** An observed round, as projections use it. */
export interface RecentRound {
  readonly roundId: number;
  readonly workUnits: bigint;
}

/** What one accepted reading closes. */
export interface ClosedRows {
  readonly round: RoundRow | null;
  readonly bucket: BucketRow | null;
}

const nothingClosed: ClosedRows = { round: null, bucket: null };

export function createRoundState(reading: AcceptedReading): RoundState {
  return {
    coveredFromMs: reading.observedAtMs,
    openRoundWorkUnits: 0n,
    bucket: openBucket(reading),
    recentRounds: [],
  };
}

/**
 * Folds `reading`, the one accepted after `previous`. Readings come in order of observation, so only the round and
 * the bucket of `previous` can close; a round closes as observed when every instant of it is covered, else it is
 * missing and has no row.
 */
export function foldRound(
  state: RoundState,
  previous: AcceptedReading,
  reading: AcceptedReading,
  genesisMs: number,
): { state: RoundState; closed: ClosedRows } {
  const gapMs = reading.observedAtMs - previous.observedAtMs;
  const isCovering = reading.counterEpoch === previous.counterEpoch && gapMs <= coveringGapMs;
  // Two readings of one instant leave nothing uncovered between them, whatever their epochs.
  const isUnbroken = isCovering || gapMs === 0;
  const workUnits = isCovering ? reading.cumulativeWorkUnits - previous.cumulativeWorkUnits : 0n;
  const coveredFromMs = isUnbroken ? state.coveredFromMs : reading.observedAtMs;

  const openRound = findRound(previous.observedAtMs, genesisMs);
  if (findRound(reading.observedAtMs, genesisMs) === openRound) {
    const openRoundWorkUnits = state.openRoundWorkUnits + workUnits;
    const bucket = withReading(state.bucket, reading);
    const { recentRounds } = state;
    return { state: { coveredFromMs, openRoundWorkUnits, bucket, recentRounds }, closed: nothingClosed };
  }

  const startMs = computeRoundStart(openRound, genesisMs);
  const isObserved = openRound >= 1 && isUnbroken && state.coveredFromMs <= startMs;
  const { installationId, position } = reading;
  const round = isObserved
    ? { installationId, roundId: openRound, startMs, workUnits: state.openRoundWorkUnits, position }
    : null;
  const ended = round === null ? state.bucket : withRound(state.bucket, round.workUnits);
  const isBucketClosed = findBucketStart(reading.observedAtMs) !== ended.startMs;
  return {
    state: {
      coveredFromMs,
      openRoundWorkUnits: workUnits,
      bucket: isBucketClosed ? openBucket(reading) : withReading(ended, reading),
      recentRounds:
        round === null
          ? state.recentRounds
          : [...state.recentRounds, { roundId: openRound, workUnits: round.workUnits }].slice(
              -recentRoundsMax,
            ),
    },
    closed: { round, bucket: isBucketClosed ? { installationId, ...ended, position } : null },
  };
}

function openBucket(reading: AcceptedReading): OpenBucket {
  return {
    startMs: findBucketStart(reading.observedAtMs),
    observedRoundCount: 0,
    workUnits: 0n,
    readingCount: 1,
    maxDistanceMm: reading.distanceMm,
    peakRpmMilli: reading.rpmMilli,
    peakRpmAtMs: reading.observedAtMs,
    peakSpeedMmPerSecond: reading.speedMmPerSecond,
    peakSpeedAtMs: reading.observedAtMs,
  };
}

function withReading(bucket: OpenBucket, reading: AcceptedReading): OpenBucket {
  const isRpmPeak = reading.rpmMilli > bucket.peakRpmMilli;
  const isSpeedPeak = reading.speedMmPerSecond > bucket.peakSpeedMmPerSecond;
  return {
    startMs: bucket.startMs,
    observedRoundCount: bucket.observedRoundCount,
    workUnits: bucket.workUnits,
    readingCount: bucket.readingCount + 1,
    maxDistanceMm: Math.max(bucket.maxDistanceMm, reading.distanceMm),
    peakRpmMilli: isRpmPeak ? reading.rpmMilli : bucket.peakRpmMilli,
    peakRpmAtMs: isRpmPeak ? reading.observedAtMs : bucket.peakRpmAtMs,
    peakSpeedMmPerSecond: isSpeedPeak ? reading.speedMmPerSecond : bucket.peakSpeedMmPerSecond,
    peakSpeedAtMs: isSpeedPeak ? reading.observedAtMs : bucket.peakSpeedAtMs,
  };
}

function withRound(bucket: OpenBucket, workUnits: bigint): OpenBucket {
  return {
    ...bucket,
    observedRoundCount: bucket.observedRoundCount + 1,
    workUnits: bucket.workUnits + workUnits,
  };
}
