import { Subject } from 'rxjs';
import { describe, expect, it, vi } from 'vitest';
import { createActor, fromEventObservable, fromPromise, type SnapshotFrom } from 'xstate';
import {
  type CaughtUp,
  type RestorationInput,
  type RestoredState,
  streamFollowerMachine,
} from '../../machines/streamFollowerMachine.ts';
import { useVirtualTime } from '../support/fakeTimers.ts';

type Snapshot = SnapshotFrom<typeof streamFollowerMachine>;

/** A follower whose work a test ends. */
function follower() {
  const done: string[] = [];
  const restoredWith: RestorationInput[] = [];
  let restore: { resolve: (state: RestoredState) => void; reject: (error: Error) => void };
  let becomeIdle: () => void = () => undefined;
  let pipeline$ = new Subject<CaughtUp>();
  const actor = createActor(
    streamFollowerMachine.provide({
      actors: {
        restore: fromPromise(
          ({ input }) =>
            new Promise<RestoredState>((resolve, reject) => {
              done.push('restore');
              restoredWith.push(input);
              restore = { resolve, reject };
            }),
        ),
        pipeline: fromEventObservable(({ input: { streamPosition } }) => {
          done.push(`pipeline from ${streamPosition.position}`);
          pipeline$ = new Subject<CaughtUp>();
          return pipeline$;
        }),
        awaitIdle: fromPromise(
          () =>
            new Promise<void>((resolve) => {
              done.push('await idle');
              becomeIdle = resolve;
            }),
        ),
      },
      actions: {
        noteStarted: () => done.push('started'),
        noteRestoreFailure: ({ context: { failures } }, { error }) =>
          done.push(`not restored, ${failures} times: ${(error as Error).message}`),
        noteFault: (_, { error }) => done.push(`fault: ${(error as { kind: string }).kind}`),
        noteCaughtUp: (_, { position }) => done.push(`caught up through ${position}`),
        endSource: () => done.push('end'),
      },
    }),
    { input: { label: 'one' } },
  );
  actor.start();
  const turn = () => vi.advanceTimersByTimeAsync(0);
  return {
    actor,
    done,
    restoredWith,
    /** Whether the state is shown, was caught up once, and is current. */
    progress: () => {
      const { isRestored, wasCurrent, isCurrent } = actor.getSnapshot().context;
      return [isRestored, wasCurrent, isCurrent];
    },
    is: (state: Parameters<Snapshot['matches']>[0]) => actor.getSnapshot().matches(state),
    restored: async ({ position = 0, lastSequence = 1, hasDiverged = false } = {}) => {
      restore.resolve({
        streamPosition: { streamCreated: null, position, digest: null },
        lastSequence,
        hasDiverged,
      });
      await turn();
    },
    refused: async () => {
      restore.reject(new Error('unavailable'));
      await turn();
    },
    becomesIdle: async () => {
      becomeIdle();
      await turn();
    },
    caughtUp: () => pipeline$.next({ type: 'caughtUp', position: 1 }),
    fail: (error: unknown) => pipeline$.error(error),
    complete: () => pipeline$.complete(),
    get isPipelineObserved() {
      return pipeline$.observed;
    },
  };
}

describe('the machine of a follower', () => {
  useVirtualTime();

  it('retries the restoration, then runs the pipeline', async () => {
    const { actor, done, is, progress, restored, refused, caughtUp, fail, becomesIdle } = follower();
    for (const waitsMs of [250, 500]) {
      await refused();
      await vi.advanceTimersByTimeAsync(waitsMs - 1);
      expect(is({ restoring: 'waiting' })).toBe(true);
      await vi.advanceTimersByTimeAsync(1);
    }
    await restored();
    expect(actor.getSnapshot().context.label).toBe('one');
    expect(is({ following: 'catchingUp' })).toBe(true);
    expect(progress()).toEqual([true, false, false]);
    caughtUp();
    expect(is({ following: 'live' })).toBe(true);
    expect(progress()).toEqual([true, true, true]);
    expect(done).toEqual([
      ...['restore', 'started', 'not restored, 1 times: unavailable'],
      ...['restore', 'not restored, 2 times: unavailable'],
      ...['restore', 'pipeline from 0', 'caught up through 1'],
    ]);
    fail({ kind: 'diverged' });
    await becomesIdle();
    await refused();
    expect(done.at(-1)).toBe('not restored, 1 times: unavailable');
  });

  it.each([
    ['the whole stream was folded', { position: 0, lastSequence: 1 }, true],
    ['a message was folded', { position: 5, lastSequence: 6 }, true],
    ['nothing was folded', { position: 5, lastSequence: 5 }, false],
    ['the stream is empty', { position: 0, lastSequence: 0 }, false],
  ])('needs a save, until it is done, if %s to catch up', async (_, restoredTo, isDue) => {
    const { actor, restored, caughtUp } = follower();
    const isSaveDue = () => actor.getSnapshot().context.isSaveDue;
    await restored(restoredTo);
    expect(isSaveDue()).toBe(false);
    caughtUp();
    expect(isSaveDue()).toBe(isDue);
    actor.send({ type: 'saving', position: restoredTo.lastSequence - 1 });
    expect(isSaveDue()).toBe(isDue);
    actor.send({ type: 'saving', position: restoredTo.lastSequence });
    expect(isSaveDue()).toBe(false);
  });

  it.each(['diverged', 'olderSnapshotNeeded'] as const)(
    'waits for work in progress and restores again after the fault %s',
    async (fault) => {
      const { actor, done, progress, restoredWith, restored, refused, becomesIdle, fail, caughtUp } =
        follower();
      await restored();
      caughtUp();
      fail({ kind: fault });
      expect(actor.getSnapshot().matches('awaitingIdle')).toBe(true);
      await becomesIdle();
      // The fault is kept until a restoration succeeds.
      await refused();
      await vi.advanceTimersByTimeAsync(1_000);
      await restored();
      expect(done).toEqual([
        ...['restore', 'started', 'pipeline from 0', 'caught up through 1', `fault: ${fault}`, 'await idle'],
        ...['restore', 'not restored, 1 times: unavailable', 'restore', 'pipeline from 0'],
      ]);
      expect(restoredWith).toEqual([{ fault: null }, { fault }, { fault }]);
      const divergences = fault === 'diverged' ? 1 : 0;
      expect(actor.getSnapshot().context).toMatchObject({ divergences, pendingFault: null });
      // The shown state stays visible meanwhile.
      expect(progress()).toEqual([true, true, false]);
      caughtUp();
      expect(progress()).toEqual([true, true, true]);
    },
  );

  it('counts a divergence that a restoration finds only once', async () => {
    const { actor, restored, becomesIdle, fail } = follower();
    await restored({ hasDiverged: true });
    expect(actor.getSnapshot().context.divergences).toBe(1);
    fail({ kind: 'olderSnapshotNeeded' });
    await becomesIdle();
    await restored({ hasDiverged: true });
    fail({ kind: 'diverged' });
    await becomesIdle();
    actor.send({ type: 'replaced' });
    await restored({ hasDiverged: true });
    expect(actor.getSnapshot().context).toMatchObject({ divergences: 3, pendingFault: null });
  });

  it('ends with any other fault and names it', async () => {
    const { actor, restored, fail } = follower();
    await restored();
    const fault = new Error('a fault of this program');
    fail(fault);
    expect(actor.getSnapshot()).toMatchObject({ status: 'done', value: 'failed', output: { fault } });
  });

  it('restores again, once, after a restoration during which a replay has made another state', async () => {
    const { actor, done, is, progress, restored, refused, becomesIdle } = follower();
    const replace = () => actor.send({ type: 'replaced' });
    replace();
    expect(is('restoring')).toBe(true);
    await refused();
    // Also while it waits for the next attempt.
    replace();
    await vi.advanceTimersByTimeAsync(1_000);
    await restored();
    expect([is('awaitingIdle'), progress()]).toEqual([true, [false, false, false]]);
    // What it restores next is of the newest replay.
    replace();
    await becomesIdle();
    await restored();
    expect(is('following')).toBe(true);
    expect(done).toEqual([
      ...['restore', 'started', 'not restored, 1 times: unavailable', 'restore', 'await idle'],
      ...['restore', 'pipeline from 0'],
    ]);
  });

  it('restores the state of a replay once what its pipeline has begun has ended, and shows the old one meanwhile', async () => {
    const one = follower();
    await one.restored();
    one.caughtUp();
    one.actor.send({ type: 'replaced' });
    expect([one.is('awaitingIdle'), one.isPipelineObserved]).toEqual([true, false]);
    expect(one.progress()).toEqual([true, true, false]);
    one.actor.send({ type: 'replaced' });
    expect(one.done.filter((step) => step === 'restore')).toHaveLength(1);
    await one.becomesIdle();
    await one.restored({ position: 7 });
    expect(one.done.at(-1)).toBe('pipeline from 7');
    one.caughtUp();
    expect(one.progress()).toEqual([true, true, true]);
    // It is no fault, so nothing is corrected and no divergence is counted.
    expect(one.restoredWith).toEqual([{ fault: null }, { fault: null }]);
    expect(one.actor.getSnapshot().context).toMatchObject({ divergences: 0, isReplaced: false });
  });

  it('drains the pipeline within its grace period when it is stopped, and ignores other events', async () => {
    for (const ending of ['completed', 'failed', 'grace'] as const) {
      const one = follower();
      await one.restored();
      one.actor.send({ type: 'stopped', graceMs: 5_000 });
      one.actor.send({ type: 'replaced' });
      expect(one.is({ following: 'draining' })).toBe(true);
      expect(one.done.at(-1)).toBe('end');
      if (ending === 'completed') one.complete();
      if (ending === 'failed') one.fail({ kind: 'diverged' });
      if (ending === 'grace') {
        await vi.advanceTimersByTimeAsync(4_999);
        one.actor.send({ type: 'stopped', graceMs: 1 });
        expect(one.is('following')).toBe(true);
        await vi.advanceTimersByTimeAsync(1);
      }
      expect(one.actor.getSnapshot()).toMatchObject({
        status: 'done',
        value: 'stopped',
        output: { fault: null },
      });
      expect(one.isPipelineObserved).toBe(false);
      // Remaining requests still see the folded state.
      expect(one.progress()).toEqual([true, false, false]);
    }
  });

  it('stops at once if no pipeline runs', async () => {
    const restoring = follower();
    restoring.actor.send({ type: 'stopped', graceMs: 5_000 });
    expect(restoring.is('stopped')).toBe(true);
    const waiting = follower();
    await waiting.restored();
    waiting.actor.send({ type: 'replaced' });
    waiting.actor.send({ type: 'stopped', graceMs: 5_000 });
    expect(waiting.is('stopped')).toBe(true);
  });
});
