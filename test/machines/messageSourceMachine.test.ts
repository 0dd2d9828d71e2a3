import { describe, expect, it, vi } from 'vitest';
import { createActor, fromPromise } from 'xstate';
import { type ConsumptionEnd, messageSourceMachine } from '../../machines/messageSourceMachine.ts';
import { useVirtualTime } from '../support/fakeTimers.ts';

const pass = (ms: number) => vi.advanceTimersByTimeAsync(ms);

/** A source whose work a test ends. `done` lists started work and reports, in order. */
function source() {
  const done: unknown[] = [];
  let resolve: (outcome: never) => void = () => undefined;
  let reject: (error: unknown) => void = () => undefined;
  const work = <Outcome>(name: string) =>
    fromPromise(
      () =>
        new Promise<Outcome>((resolveWork, rejectWork) => {
          done.push(name);
          resolve = resolveWork;
          reject = rejectWork;
        }),
    );
  const actor = createActor(
    messageSourceMachine.provide({
      actors: { verify: work('verify'), consume: work('consume'), recreate: work('recreate') },
      actions: {
        noteInterruption: () => done.push('interrupted'),
        report: (_, { error }) => done.push(error),
      },
    }),
    { input: { label: 'one' } },
  ).start();
  return {
    actor,
    done,
    state: () => actor.getSnapshot().value,
    succeed: async (outcome?: ConsumptionEnd) => {
      resolve(outcome as never);
      await pass(0);
    },
    fail: async (error: unknown) => {
      reject(error);
      await pass(0);
    },
  };
}

const unavailable = new Error('unavailable');
const [diverged, gap, missing] = (['diverged', 'gap', 'missing'] as const).map((kind) => ({ kind }));

describe('the machine of a source', () => {
  useVirtualTime();

  it('counts lost connections until it has caught up', async () => {
    const one = source();
    const cuts = () => one.actor.getSnapshot().context.cuts;
    for (const outcome of ['cut', 'interrupted', 'cut'] as const) {
      await one.succeed();
      await one.succeed(outcome);
      await pass(500);
    }
    expect([cuts(), one.done.filter((what) => what === 'interrupted').length]).toEqual([2, 3]);
    await one.succeed();
    one.actor.send({ type: 'caughtUp' });
    expect(cuts()).toBe(0);
  });

  it.each([
    ['verified', unavailable, 'interrupted', [unavailable]],
    ['verified', gap, 'interrupted', [gap]],
    ['verified', missing, { missing: 'waiting' }, [missing]],
    ['consumed', unavailable, 'interrupted', ['interrupted', unavailable]],
    ['consumed', missing, 'interrupted', ['interrupted', missing]],
    ['consumed', gap, 'gap', ['interrupted', gap]],
    ['consumed', 'interrupted', 'interrupted', ['interrupted']],
  ] as const)(
    'a stream that is being %s and meets %o waits longer each time, and verifies again',
    async (work, outcome, state, said) => {
      const one = source();
      for (const waitsMs of [100, 200, 400, 500, 500]) {
        if (work === 'consumed') await one.succeed();
        const { length } = one.done;
        if (outcome === 'interrupted') await one.succeed(outcome);
        else await one.fail(outcome);
        if (outcome === missing && waitsMs > 100) await one.fail(unavailable);
        expect([one.state(), one.done.slice(length).filter((step) => step !== 'recreate')]).toEqual([
          state,
          said,
        ]);
        await pass(waitsMs - 1);
        expect(one.state()).toEqual(state);
        await pass(1);
        expect(one.state()).toBe('verifying');
      }
    },
  );

  it.each([
    ['verified', diverged, 'diverged'],
    ['consumed', diverged, 'diverged'],
    ['consumed', 'ended', 'ended'],
  ] as const)('a stream that is being %s ends with %o', async (work, outcome, state) => {
    const { actor, done, succeed, fail } = source();
    if (work === 'consumed') await succeed();
    const { length } = done;
    if (outcome === 'ended') await succeed(outcome);
    else await fail(outcome);
    const fault = outcome === 'ended' ? null : outcome;
    expect(actor.getSnapshot()).toMatchObject({ value: state, status: 'done', output: { fault } });
    expect(done).toHaveLength(length);
  });

  it('waits briefly again after delivered messages, and follows once it has caught up', async () => {
    const { actor, state, succeed, fail } = source();
    await fail(unavailable);
    await pass(100);
    await succeed();
    expect(state()).toEqual({ consuming: 'catchingUp' });
    actor.send({ type: 'caughtUp' });
    expect(state()).toEqual({ consuming: 'following' });
    actor.send({ type: 'progressed' });
    await succeed('interrupted');
    await pass(100);
    expect(state()).toBe('verifying');
  });

  it('has a stream recreated after it was missing twice in succession', async () => {
    const { done, state, succeed, fail } = source();
    for (let attempt = 0; attempt < 2; attempt++) {
      await fail(missing);
      expect(state()).toEqual({ missing: 'waiting' });
      await pass(500);
      await succeed();
      await succeed('interrupted');
      await pass(500);
    }
    expect(done).not.toContain('recreate');
    await fail(missing);
    await pass(500);
    await fail(missing);
    expect([state(), done.at(-1)]).toEqual([{ missing: 'recreating' }, 'recreate']);
    await succeed();
    expect(state()).toEqual({ missing: 'waiting' });
  });
});
