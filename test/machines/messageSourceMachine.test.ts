import { describe, expect, it, vi } from 'vitest';
import { createActor, fromPromise } from 'xstate';
import { messageSourceMachine, type SourceFault } from '../../machines/messageSourceMachine.ts';
import { useVirtualTime } from '../support/virtualTime.ts';

/** A source whose work a test ends; what was begun is in `begun`, in order. */
function source() {
  const begun: string[] = [];
  const reported: unknown[] = [];
  let resolve: (outcome: never) => void = () => undefined;
  let reject: (error: unknown) => void = () => undefined;
  const work = <Outcome>(name: string) =>
    fromPromise(
      () =>
        new Promise<Outcome>((resolveWork, rejectWork) => {
          begun.push(name);
          resolve = resolveWork;
          reject = rejectWork;
        }),
    );
  const actor = createActor(
    messageSourceMachine.provide({
      actors: { verify: work('verify'), consume: work('consume'), recreate: work('recreate') },
      guards: { isFault: (_, { error, fault }) => (error as { fault?: SourceFault }).fault === fault },
      actions: {
        noteInterruption: () => begun.push('interrupted'),
        report: (_, { error }) => reported.push(error),
      },
    }),
    { input: { label: 'one' } },
  );
  actor.start();
  const turn = () => vi.advanceTimersByTimeAsync(0);
  return {
    actor,
    begun,
    reported,
    succeed: async (outcome?: 'interrupted' | 'ended') => {
      resolve(outcome as never);
      await turn();
    },
    fail: async (error: unknown) => {
      reject(error);
      await turn();
    },
    is: (state: Parameters<ReturnType<typeof actor.getSnapshot>['matches']>[0]) =>
      actor.getSnapshot().matches(state),
  };
}

describe('the machine of a source', () => {
  useVirtualTime();

  it('verifies before each consumer, with growing delays while no consumer makes progress', async () => {
    const { actor, begun, succeed, fail, is } = source();
    await succeed();
    expect(is({ consuming: 'catchingUp' })).toBe(true);
    actor.send({ type: 'caughtUp' });
    expect(is({ consuming: 'following' })).toBe(true);
    await succeed('interrupted');
    expect(begun).toEqual(['verify', 'consume', 'interrupted']);
    await vi.advanceTimersByTimeAsync(100);
    await fail(new Error('unavailable'));
    await vi.advanceTimersByTimeAsync(199);
    expect(is('interrupted')).toBe(true);
    await vi.advanceTimersByTimeAsync(1);
    expect(is('verifying')).toBe(true);
    for (let attempt = 0; attempt < 9; attempt++) {
      await fail(new Error('unavailable'));
      await vi.advanceTimersByTimeAsync(5_000);
      expect(is('verifying')).toBe(true);
    }
    await succeed();
    actor.send({ type: 'progressed' });
    await succeed('interrupted');
    await vi.advanceTimersByTimeAsync(100);
    expect(is('verifying')).toBe(true);
  });

  it('ends with a divergence, wherever it is found, and after the last requested message', async () => {
    const verifying = source();
    await verifying.fail({ fault: 'diverged' });
    expect(verifying.actor.getSnapshot()).toMatchObject({
      value: 'diverged',
      output: { fault: { fault: 'diverged' } },
    });
    const consuming = source();
    await consuming.succeed();
    await consuming.fail({ fault: 'diverged' });
    expect(consuming.actor.getSnapshot().value).toBe('diverged');
    const ended = source();
    await ended.succeed();
    await ended.succeed('ended');
    expect(ended.actor.getSnapshot()).toMatchObject({ value: 'ended', output: { fault: null } });
  });

  it('waits at a gap until the stream explains it', async () => {
    const { reported, succeed, fail, is } = source();
    await succeed();
    await fail({ fault: 'gap' });
    expect(is('gap')).toBe(true);
    await vi.advanceTimersByTimeAsync(100);
    expect(is('verifying')).toBe(true);
    expect(reported).toHaveLength(1);
  });

  it('has a stream created again after it was missing twice', async () => {
    const { begun, succeed, fail, is } = source();
    await fail({ fault: 'missing' });
    expect(is({ missing: 'waiting' })).toBe(true);
    await vi.advanceTimersByTimeAsync(100);
    await fail({ fault: 'missing' });
    expect(is({ missing: 'recreating' })).toBe(true);
    await succeed();
    await vi.advanceTimersByTimeAsync(200);
    await succeed();
    expect(begun).toEqual(['verify', 'verify', 'recreate', 'verify', 'consume']);
    expect(is('consuming')).toBe(true);
  });
});
