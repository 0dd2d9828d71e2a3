import { z } from 'zod';
import type { Inferred } from '../../machines/inferred.ts';
import { amount, count, milliseconds } from '../schemas/stateScalars.ts';
import type { CounterReading } from './counterReading.ts';

/** Seconds of a round (CONTRACT.md, Time, rounds and days). */
export const roundSeconds = 600 as const;
/** Seconds of a half-hour bucket: three rounds (CONTRACT.md, Time, rounds and days). */
export const bucketSeconds = 1800 as const;
/** Two readings that are further apart do not cover the time between them (CONTRACT.md, Time, rounds and days). */
export const coveringGapSeconds = 120;

export const roundMs = roundSeconds * 1000;
export const bucketMs = bucketSeconds * 1000;
const coveringGapMs = coveringGapSeconds * 1000;

/** Number of the round that holds a time. Round 1 starts at the genesis; numbers below 1 lie before it. */
export function findRound(timeMs: number, genesisMs: number): number {
  return Math.floor((timeMs - genesisMs) / roundMs) + 1;
}

/** Start of the half-hour bucket that holds a time (epoch milliseconds). */
function findBucketStart(timeMs: number): number {
  return Math.floor(timeMs / bucketMs) * bucketMs;
}

/** An observed round: readings cover every instant of it (CONTRACT.md, Time, rounds and days). Missing rounds have no row. */
export interface RoundRow {
  readonly installationId: string;
  /** From 1, the round that starts at the genesis. */
  readonly roundId: number;
  readonly startMs: number;
  readonly workUnits: bigint;
  /** Sequence of the reading that closed the round. */
  readonly position: number;
}

const openBucket = z.strictObject({
  /** Epoch milliseconds, a multiple of 1,800,000. */
  startMs: milliseconds,
  /** 0 to 3. */
  observedRoundCount: count,
  /** Work of its observed rounds. Other work is unknown. */
  workUnits: amount,
  readingCount: count,
  /** Largest values of its readings; each peak with the time of the first reading that had it (epoch milliseconds). */
  maxDistanceMm: count,
  peakRpmMilli: count,
  peakRpmAtMs: milliseconds,
  peakSpeedMmPerSecond: count,
  peakSpeedAtMs: milliseconds,
});
type OpenBucket = Inferred<typeof openBucket>;

/** A half-hour bucket that held readings, written when the first reading after it arrives. */
export interface BucketRow extends OpenBucket {
  readonly installationId: string;
  /** Sequence of the reading that closed the bucket. */
  readonly position: number;
}

export const openRound = z.strictObject({
  /** Start of the unbroken coverage that ends at the newest reading (epoch milliseconds). */
  coveredFromMs: milliseconds,
  /** Work so far of the round that holds the newest reading. */
  openRoundWorkUnits: amount,
  bucket: openBucket,
});

/** The open round and bucket of one installation. Immutable. */
export type RoundState = Inferred<typeof openRound>;

export interface ClosedRows {
  readonly round: RoundRow | null;
  readonly bucket: BucketRow | null;
}

export const nothingClosed: ClosedRows = { round: null, bucket: null };

export function createRoundState(reading: CounterReading): RoundState {
  return {
    coveredFromMs: reading.observedAtMs,
    openRoundWorkUnits: 0n,
    bucket: createBucket(reading),
  };
}

/** The row of the open bucket, closed without a later reading of its installation. */
export function closeBucket(installationId: string, { bucket }: RoundState, position: number): BucketRow {
  return { installationId, ...bucket, position };
}

/**
 * Folds the next accepted reading. Readings come in order of observation, so only the round and the bucket of the previous reading can
 * close. A round whose every instant is covered is observed; any other round is missing and has no row.
 */
export function foldRound(
  state: RoundState,
  { reading, previous, genesisMs }: { reading: CounterReading; previous: CounterReading; genesisMs: number },
): { state: RoundState; closed: ClosedRows } {
  const gapMs = reading.observedAtMs - previous.observedAtMs;
  const isCovering = reading.counterEpoch === previous.counterEpoch && gapMs <= coveringGapMs;
  // Between two readings of one instant nothing is uncovered, even if their epochs differ.
  const isUnbroken = isCovering || gapMs === 0;
  const workUnits = isCovering ? reading.cumulativeWorkUnits - previous.cumulativeWorkUnits : 0n;
  const coveredFromMs = isUnbroken ? state.coveredFromMs : reading.observedAtMs;

  const roundId = findRound(previous.observedAtMs, genesisMs);
  if (findRound(reading.observedAtMs, genesisMs) === roundId) {
    const openRoundWorkUnits = state.openRoundWorkUnits + workUnits;
    const bucket = withReading(state.bucket, reading);
    return { state: { coveredFromMs, openRoundWorkUnits, bucket }, closed: nothingClosed };
  }

  const startMs = genesisMs + (roundId - 1) * roundMs;
  const isObserved = roundId >= 1 && isUnbroken && state.coveredFromMs <= startMs;
  const { installationId, position } = reading;
  const round = isObserved
    ? { installationId, roundId, startMs, workUnits: state.openRoundWorkUnits, position }
    : null;
  const ended = round === null ? state.bucket : withRound(state.bucket, round.workUnits);
  const isBucketClosed = findBucketStart(reading.observedAtMs) !== ended.startMs;
  return {
    state: {
      coveredFromMs,
      openRoundWorkUnits: workUnits,
      bucket: isBucketClosed ? createBucket(reading) : withReading(ended, reading),
    },
    closed: { round, bucket: isBucketClosed ? { installationId, ...ended, position } : null },
  };
}

function createBucket(reading: CounterReading): OpenBucket {
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

function withReading(bucket: OpenBucket, reading: CounterReading): OpenBucket {
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
