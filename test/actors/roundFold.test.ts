import fc from 'fast-check';
import { expect, it } from 'vitest';
import type { CounterReading } from '../../actors/wheel/counterReading.ts';
import { createRoundState, foldRound } from '../../actors/wheel/roundFold.ts';
import { observeBuckets, observeRounds } from '../reference/acceptedReadings.ts';
import { runs } from '../support/propertyRuns.ts';
import { acceptedReading } from '../support/readings/acceptedReading.ts';

const genesisMs = Date.UTC(2026, 0, 1, 12);

function fold([first, ...rest]: readonly CounterReading[]) {
  if (first === undefined) return { rounds: [], buckets: [] };
  let [state, previous] = [createRoundState(first), first];
  const closed = rest.map((reading) => {
    const folded = foldRound(state, { reading, previous, genesisMs });
    [state, previous] = [folded.state, reading];
    return folded.closed;
  });
  return {
    rounds: closed.flatMap(({ round }) => round ?? []),
    buckets: closed.flatMap(({ bucket }) => bucket ?? []),
  };
}

const steps = fc.array(
  fc.record({
    gapMs: fc.oneof(
      { weight: 12, arbitrary: fc.integer({ min: 1_000, max: 120_000 }) },
      { weight: 1, arbitrary: fc.constantFrom(0, 120_000, 120_001, 600_000) },
      { weight: 1, arbitrary: fc.integer({ min: 120_000, max: 5_400_000 }) },
    ),
    /** Where the reading lies beside the next border of rounds; null for anywhere. */
    borderMs: fc.oneof(
      { weight: 20, arbitrary: fc.constant(null) },
      { weight: 1, arbitrary: fc.constantFrom(-1, 0, 1) },
    ),
    work: fc.integer({ min: 0, max: 50 }),
    isNewEpoch: fc.integer({ min: 0, max: 40 }).map((draw) => draw === 0),
    distanceMm: fc.nat(5_000),
    rpmMilli: fc.nat(3),
    speedMmPerSecond: fc.nat(3),
  }),
  { maxLength: 220, size: 'max' },
);

it('the fold of rounds and the reference close the same rounds and buckets', () => {
  fc.assert(
    fc.property(steps, fc.integer({ min: -3_600_000, max: 3_600_000 }), (given, startOffsetMs) => {
      let timeMs = genesisMs + startOffsetMs;
      let work = 0;
      let epoch = 0;
      const all = given.map((step, index) => {
        // Half of the epochs begin at the instant of the reading before.
        timeMs += step.isNewEpoch && step.work % 2 === 0 ? 0 : step.gapMs;
        if (step.borderMs !== null) timeMs = Math.ceil((timeMs + 1) / 600_000) * 600_000 + step.borderMs;
        if (step.isNewEpoch) epoch += 1;
        work += step.work;
        return acceptedReading({
          position: index + 1,
          observedAtMs: timeMs,
          cumulativeWorkUnits: BigInt(work),
          counterEpoch: `eeeeeeee-0000-4000-8000-${String(epoch).padStart(12, '0')}`,
          distanceMm: step.distanceMm,
          rpmMilli: step.rpmMilli,
          speedMmPerSecond: step.speedMmPerSecond,
        });
      });
      const { rounds, buckets } = fold(all);
      expect(
        rounds.map(({ roundId, workUnits }) => [genesisMs + (roundId - 1) * 600_000, workUnits]),
      ).toEqual([...observeRounds(all, genesisMs)]);
      expect(buckets.map(({ installationId: _i, position: _p, ...bucket }) => bucket)).toEqual(
        observeBuckets(all, genesisMs).map(({ bucket }) => bucket),
      );
    }),
    { numRuns: runs(100) },
  );
});
