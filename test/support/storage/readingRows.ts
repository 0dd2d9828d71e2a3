import { type FoldedRows, noRows } from '../../../storage/tables/foldedRows.ts';
import { acceptedReading } from '../readings/acceptedReading.ts';

/** Rows of `count` readings from a position on, with a round and a bucket for every sixtieth reading. */
export function storedRows(fromPosition: number, count: number): FoldedRows {
  const positions = Array.from({ length: count }, (_, index) => fromPosition + index);
  const closing = positions.filter((position) => position % 60 === 0);
  return {
    ...noRows,
    readings: positions.map((position) =>
      acceptedReading({ position, cumulativeWorkUnits: 2n ** 200n + BigInt(position) }),
    ),
    rounds: closing.map((position) => ({
      installationId: 'wheel-1',
      roundId: position / 60,
      startMs: Date.UTC(2026, 0, 31, 12) + position * 1_000,
      workUnits: BigInt(position) ** 7n,
      position,
    })),
    buckets: closing.map((position) => ({
      installationId: 'wheel-1',
      startMs: Date.UTC(2026, 0, 31, 12) + position * 1_800_000,
      observedRoundCount: position % 4,
      workUnits: BigInt(position),
      readingCount: 60,
      maxDistanceMm: position,
      peakRpmMilli: 1,
      peakRpmAtMs: 2,
      peakSpeedMmPerSecond: 3,
      peakSpeedAtMs: 4,
      position,
    })),
    throughPosition: fromPosition + count - 1,
  };
}
