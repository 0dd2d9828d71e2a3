import fc from 'fast-check';
import { expect, it } from 'vitest';
import { askUntilProven, createSuspicions, NotProven } from '../../streams/jetstream/suspicions.ts';
import { manualClock } from '../support/manualClock.ts';

const lost = { claim: 'message 5 is lost', isConfirmed: true };

function judge(judged: () => boolean) {
  try {
    return judged();
  } catch (error) {
    expect(error).toBeInstanceOf(NotProven);
    return null;
  }
}

it('one answer never proves a claim: a single server is asked twice, and a cluster for 30 seconds', () => {
  const clock = manualClock();
  const { isProven } = createSuspicions(clock);
  expect(judge(() => isProven({ ...lost, replicas: 1 }))).toBe(null);
  expect(judge(() => isProven({ ...lost, replicas: 1 }))).toBe(true);

  const replicated = createSuspicions(clock);
  const ask = () => judge(() => replicated.isProven({ ...lost, replicas: 3 }));
  expect(ask()).toBe(null);
  clock.advance(29_999);
  expect(ask()).toBe(null);
  clock.advance(1);
  expect(ask()).toBe(true);
});

it('an answer that refutes a claim begins it anew, and so does a minute without an answer', () => {
  const clock = manualClock();
  const { isProven } = createSuspicions(clock);
  const ask = (isConfirmed = true) => judge(() => isProven({ ...lost, isConfirmed, replicas: 3 }));
  ask();
  clock.advance(30_000);
  expect(ask(false)).toBe(false);
  expect(ask()).toBe(null);
  clock.advance(60_001);
  expect(ask()).toBe(null);
  clock.advance(30_000);
  expect(ask()).toBe(true);
});

it('soon after a proof, two answers prove what else the same loss has taken', () => {
  const clock = manualClock();
  const { isProven } = createSuspicions(clock);
  const ask = (claim: string) => judge(() => isProven({ claim, isConfirmed: true, replicas: 3 }));
  ask('first');
  clock.advance(30_000);
  expect([ask('first'), ask('second'), ask('second')]).toEqual([true, null, true]);
  clock.advance(30_000);
  expect([ask('third'), ask('third')]).toEqual([null, null]);
});

it('claims that nobody repeats are forgotten, the oldest first', () => {
  const { isProven } = createSuspicions(manualClock());
  const ask = (number: number) =>
    judge(() => isProven({ claim: String(number), isConfirmed: true, replicas: 1 }));
  for (let number = 0; number <= 256; number++) ask(number);
  expect([ask(0), ask(256)]).toEqual([null, true]);
});

it('a claim is proven exactly when all answers since the last refutation have confirmed it for long enough', () => {
  const answers = fc.array(
    fc.record({
      afterMs: fc.constantFrom(0, 500, 10_000, 30_000, 61_000),
      about: fc.constantFrom('a', 'b'),
      isConfirmed: fc.boolean(),
    }),
    { maxLength: 40 },
  );
  fc.assert(
    fc.property(answers, (given) => {
      const clock = manualClock();
      const { isProven } = createSuspicions(clock);
      const said: { atMs: number; claim: string; isConfirmed: boolean; outcome: boolean | null }[] = [];
      for (const { afterMs, about: claim, isConfirmed } of given) {
        clock.advance(afterMs);
        const atMs = clock.bootMs();
        const outcome = judge(() => isProven({ claim, isConfirmed, replicas: 3 }));
        const earlier = said.filter((one) => one.claim === claim);
        const refuted = earlier.findLastIndex((one) => !one.isConfirmed);
        const run = [...earlier.slice(refuted + 1), { atMs }];
        const gap = run.findLastIndex((one, at) => at > 0 && one.atMs - (run[at - 1]?.atMs ?? 0) > 60_000);
        const since = run.slice(Math.max(gap, 0));
        const isSettled = said.some((one) => one.outcome === true && atMs - one.atMs < 30_000);
        const isLong = atMs - (since[0]?.atMs ?? atMs) >= 30_000;
        const expected = !isConfirmed ? false : since.length > 1 && (isSettled || isLong) ? true : null;
        expect(outcome).toBe(expected);
        said.push({ atMs, claim, isConfirmed, outcome });
      }
    }),
  );
});

it('a command asks again until an answer is proven, and passes on any other error', async () => {
  const { isProven } = createSuspicions(manualClock());
  expect(await askUntilProven(async () => isProven({ ...lost, replicas: 1 }))).toBe(true);
  const failure = new Error('timeout');
  await expect(askUntilProven(() => Promise.reject(failure))).rejects.toBe(failure);
});
