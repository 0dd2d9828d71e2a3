import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { CounterReading } from '../../actors/wheel/counterReading.ts';
import { createRoundState, foldRound } from '../../actors/wheel/roundFold.ts';
import { observeRounds } from '../reference/readings.ts';
import { acceptedReading } from '../support/readings/acceptedReading.ts';

const genesisMs = Date.UTC(2026, 0, 1, 12);
const minuteMs = 60_000;

/** Readings given as minutes after the genesis, with the counter's value. */
function readings(points: readonly (readonly [minutes: number, work: number, epoch?: string])[]) {
  return points.map(([minutes, work, epoch], index) =>
    acceptedReading({
      position: index + 1,
      observedAtMs: genesisMs + minutes * minuteMs,
      cumulativeWorkUnits: BigInt(work),
      ...(epoch === undefined ? {} : { counterEpoch: epoch }),
    }),
  );
}

function fold(all: readonly CounterReading[]) {
  const [first, ...rest] = all;
  if (first === undefined) return { rounds: [], buckets: [] };
  let state = createRoundState(first);
  let previous = first;
  const rounds = [];
  const buckets = [];
  for (const reading of rest) {
    const folded = foldRound(state, { reading, previous, genesisMs });
    state = folded.state;
    if (folded.closed.round !== null) rounds.push(folded.closed.round);
    if (folded.closed.bucket !== null) buckets.push(folded.closed.bucket);
    previous = reading;
  }
  return { rounds, buckets };
}

/** Every two minutes from `from` to `to`, the counter rising by one each time. */
function steady(from: number, to: number): [number, number][] {
  const points: [number, number][] = [];
  for (let minutes = from; minutes <= to; minutes += 2) points.push([minutes, minutes / 2]);
  return points;
}

describe('rounds', () => {
  it('observes a round whose every instant is covered', () => {
    const { rounds } = fold(readings(steady(0, 20)));
    expect(rounds.map(({ roundId, workUnits }) => [roundId, workUnits])).toEqual([
      [1, 4n],
      [2, 5n],
    ]);
  });

  it('does not observe the round in which readings begin', () => {
    const { rounds } = fold(readings(steady(2, 20)));
    expect(rounds.map(({ roundId }) => roundId)).toEqual([2]);
  });

  it('counts the work of a pair in the round of its later reading', () => {
    const { rounds } = fold(
      readings([
        [0, 0],
        [2, 0],
        [4, 0],
        [6, 0],
        [8, 0],
        [9.5, 0],
        [10.5, 100],
        [12, 100],
        [14, 100],
        [16, 100],
        [18, 100],
        [20, 100],
      ]),
    );
    expect(rounds.map(({ workUnits }) => workUnits)).toEqual([0n, 100n]);
  });

  it('covers a gap of exactly 120 seconds and not one of a millisecond more', () => {
    const points = steady(0, 8).concat([[10, 5]]);
    expect(fold(readings(points)).rounds).toHaveLength(1);
    const late = steady(0, 8).concat([[10 + 1 / 60_000, 5]]);
    expect(fold(readings(late)).rounds).toHaveLength(0);
  });

  it('leaves a round missing when the counter epoch changes inside it', () => {
    const epoch = 'eeeeeeee-0000-4000-8000-000000000002';
    const points: [number, number, string?][] = [
      ...steady(0, 4),
      [6, 0, epoch],
      [8, 1, epoch],
      [10, 2, epoch],
    ];
    expect(fold(readings(points)).rounds).toHaveLength(0);
  });

  it('has no round before the genesis', () => {
    const { rounds } = fold(readings(steady(-20, 10)));
    expect(rounds.map(({ roundId }) => roundId)).toEqual([1]);
  });
});

describe('half-hour buckets', () => {
  it('sums up to three observed rounds and keeps the first time of each peak', () => {
    const all = readings(steady(0, 32)).map((reading, index) => ({
      ...reading,
      rpmMilli: index === 3 || index === 5 ? 900 : 10,
      speedMmPerSecond: index === 4 || index === 6 ? 700 : 10,
      distanceMm: index * 100,
    }));
    const { buckets } = fold(all);
    expect(buckets).toHaveLength(1);
    expect(buckets[0]).toMatchObject({
      startMs: genesisMs,
      observedRoundCount: 3,
      workUnits: 14n,
      readingCount: 15,
      maxDistanceMm: 1400,
      peakRpmMilli: 900,
      peakRpmAtMs: genesisMs + 6 * minuteMs,
      peakSpeedMmPerSecond: 700,
      peakSpeedAtMs: genesisMs + 8 * minuteMs,
    });
  });

  it('keeps the peaks of a bucket without an observed round', () => {
    const { buckets } = fold(
      readings([
        [0, 0],
        [5, 7],
        [40, 9],
      ]),
    );
    expect(buckets).toMatchObject([{ observedRoundCount: 0, workUnits: 0n, readingCount: 2 }]);
  });
});

describe('against a plain second implementation', () => {
  const steps = fc.array(
    fc.record({
      gapMs: fc.oneof(
        { weight: 12, arbitrary: fc.integer({ min: 1_000, max: 120_000 }) },
        { weight: 1, arbitrary: fc.constantFrom(0, 120_000, 120_001, 600_000) },
        { weight: 1, arbitrary: fc.integer({ min: 120_000, max: 5_400_000 }) },
      ),
      work: fc.integer({ min: 0, max: 50 }),
      isNewEpoch: fc.integer({ min: 0, max: 40 }).map((draw) => draw === 0),
      distanceMm: fc.nat(5_000),
    }),
    { maxLength: 220, size: 'max' },
  );

  it('closes the same rounds and buckets', () => {
    fc.assert(
      fc.property(steps, fc.integer({ min: -3_600_000, max: 3_600_000 }), (given, startOffsetMs) => {
        let timeMs = genesisMs + startOffsetMs;
        let work = 0;
        let epoch = 0;
        const all = given.map((step, index) => {
          timeMs += step.gapMs;
          if (step.isNewEpoch) epoch += 1;
          work += step.work;
          return acceptedReading({
            position: index + 1,
            observedAtMs: timeMs,
            cumulativeWorkUnits: BigInt(work),
            counterEpoch: `eeeeeeee-0000-4000-8000-${String(epoch).padStart(12, '0')}`,
            distanceMm: step.distanceMm,
          });
        });
        const { rounds, buckets } = fold(all);
        expect(rounds.map(({ roundId, workUnits }) => ({ roundId, workUnits }))).toEqual(
          listReferenceRounds(all),
        );
        expect(
          buckets.map(({ startMs, workUnits, observedRoundCount, maxDistanceMm, readingCount }) => ({
            startMs,
            workUnits,
            observedRoundCount,
            maxDistanceMm,
            readingCount,
          })),
        ).toEqual(naiveBuckets(all));
      }),
      { numRuns: 300 },
    );
  });
});

/** The reference's, by their numbers. */
function listReferenceRounds(all: readonly CounterReading[]) {
  return [...observeRounds(all, genesisMs)].map(([startMs, workUnits]) => ({
    roundId: (startMs - genesisMs) / 600_000 + 1,
    workUnits,
  }));
}

function naiveBuckets(all: readonly CounterReading[]) {
  const rounds = listReferenceRounds(all);
  const last = all.at(-1);
  const starts = [...new Set(all.map(({ observedAtMs }) => observedAtMs - (observedAtMs % 1_800_000)))];
  return starts
    .filter((startMs) => last !== undefined && startMs + 1_800_000 <= last.observedAtMs)
    .map((startMs) => {
      const readings = all.filter(
        ({ observedAtMs }) => observedAtMs >= startMs && observedAtMs < startMs + 1_800_000,
      );
      const observed = rounds.filter(({ roundId }) => {
        const roundMs = genesisMs + (roundId - 1) * 600_000;
        return roundMs >= startMs && roundMs < startMs + 1_800_000;
      });
      return {
        startMs,
        workUnits: observed.reduce((sum, { workUnits }) => sum + workUnits, 0n),
        observedRoundCount: observed.length,
        maxDistanceMm: Math.max(...readings.map(({ distanceMm }) => distanceMm)),
        readingCount: readings.length,
      };
    });
}
