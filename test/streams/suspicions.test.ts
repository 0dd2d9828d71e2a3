import fc from 'fast-check';
import { expect, it } from 'vitest';
import { askUntilProven, createSuspicions, NotProven } from '../../streams/jetstream/proofs/suspicions.ts';
import { type ManualClock, manualClock } from '../support/manualClock.ts';

/** Asks one source of suspicions, whose answers arrive at once unless they are given another time. */
function startAsking(clock: ManualClock, replicas: number) {
  const { isProven } = createSuspicions(clock);
  return (claim = 'message 5 is lost', isConfirmed = true, askedAtMs = clock.bootMs()) => {
    try {
      return isProven({ claim, isConfirmed, askedAtMs, replicas });
    } catch (error) {
      expect(error).toBeInstanceOf(NotProven);
      return null;
    }
  };
}

it('claims that nobody repeats are forgotten, the oldest first', () => {
  const ask = startAsking(manualClock(), 1);
  for (let number = 0; number <= 1_024; number++) ask(String(number));
  expect([ask('0'), ask('1024')]).toEqual([null, true]);
});

it('a claim is proven exactly by a long series of confirmations', () => {
  const answers = fc.array(
    fc.record({
      afterMs: fc.constantFrom(0, 500, 5_000, 10_000, 29_999, 30_000, 30_001),
      claim: fc.constantFrom('a', 'b'),
      isConfirmed: fc.oneof({ weight: 5, arbitrary: fc.constant(true) }, fc.boolean()),
      travelledMs: fc.constantFrom(0, 0, 0, 4_000, 35_000),
    }),
    { maxLength: 40 },
  );
  fc.assert(
    fc.property(answers, fc.constantFrom(1, 2, 3), (given, replicas) => {
      const clock = manualClock(1_000_000);
      const ask = startAsking(clock, replicas);
      const said: { atMs: number; askedAtMs: number; claim: string; isConfirmed: boolean }[] = [];
      for (const { afterMs, claim, isConfirmed, travelledMs } of given) {
        clock.advance(afterMs);
        const atMs = clock.bootMs();
        const askedAtMs = atMs - travelledMs;
        const outcome = ask(claim, isConfirmed, askedAtMs);
        said.push({ atMs, askedAtMs, claim, isConfirmed });
        const about = said.filter((one) => one.claim === claim);
        const begun = about.findLastIndex(
          (one, at) =>
            at === 0 || !about[at - 1]?.isConfirmed || one.askedAtMs - (about[at - 1]?.atMs ?? 0) > 30_000,
        );
        const series = about.slice(begun);
        const isLong = askedAtMs - (series[0]?.atMs ?? 0) >= (replicas === 1 ? 0 : 30_000);
        const isProven = series.length >= (replicas === 1 ? 2 : 4) && isLong;
        expect(outcome).toBe(isConfirmed ? isProven || null : false);
      }
    }),
  );
});

it('a command asks until an answer is proven, and passes other errors', async () => {
  const ask = startAsking(manualClock(), 1);
  let asked = 0;
  const answer = await askUntilProven(async () => {
    asked++;
    if (ask() === null) throw new NotProven('not yet');
    return 'proven';
  });
  expect([answer, asked]).toEqual(['proven', 2]);
  const failure = new Error('timeout');
  await expect(askUntilProven(() => Promise.reject(failure))).rejects.toBe(failure);
});
