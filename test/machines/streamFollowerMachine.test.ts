import { Subject } from 'rxjs';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { createActor, fromObservable, fromPromise, type SnapshotFrom } from 'xstate';
import { type PipelineFault, streamFollowerMachine } from '../../machines/streamFollowerMachine.ts';

type Snapshot = SnapshotFrom<typeof streamFollowerMachine>;

/** A follower whose work a test ends. */
function follower() {
  const done: string[] = [];
  let restore: { resolve: () => void; reject: (error: Error) => void };
  let settle: () => void = () => undefined;
  let pipeline$ = new Subject<never>();
  const actor = createActor(
    streamFollowerMachine.provide({
      actors: {
        restore: fromPromise(
          () =>
            new Promise<void>((resolve, reject) => {
              done.push('restore');
              restore = { resolve, reject };
            }),
        ),
        pipeline: fromObservable(() => {
          done.push('pipeline');
          pipeline$ = new Subject<never>();
          return pipeline$;
        }),
        settle: fromPromise(
          () =>
            new Promise<void>((resolve) => {
              done.push('settle');
              settle = resolve;
            }),
        ),
      },
      guards: { isFault: (_, { error, fault }) => (error as { fault?: PipelineFault }).fault === fault },
      actions: {
        noteRestoreFailure: () => undefined,
        noteFault: () => undefined,
        noteFollowing: () => undefined,
        endSource: () => done.push('end'),
      },
      delays: { backoff: 1_000 },
    }),
  );
  actor.start();
  const turn = () => vi.advanceTimersByTimeAsync(0);
  return {
    actor,
    done,
    is: (state: Parameters<Snapshot['matches']>[0]) => actor.getSnapshot().matches(state),
    restored: async () => {
      restore.resolve();
      await turn();
    },
    refused: async () => {
      restore.reject(new Error('unavailable'));
      await turn();
    },
    settled: async () => {
      settle();
      await turn();
    },
    fail: (error: unknown) => pipeline$.error(error),
    complete: () => pipeline$.complete(),
    get isPipelineObserved() {
      return pipeline$.observed;
    },
  };
}

describe('the machine of a follower', () => {
  beforeEach(() => {
    vi.useFakeTimers();
  });
  afterEach(() => {
    vi.useRealTimers();
  });

  it('restores until it can, then runs the pipeline', async () => {
    const { actor, done, is, restored, refused } = follower();
    await refused();
    expect(is({ restoring: 'waiting' })).toBe(true);
    await vi.advanceTimersByTimeAsync(1_000);
    await restored();
    expect(is({ following: 'catchingUp' })).toBe(true);
    expect(actor.getSnapshot().context).toMatchObject({ isRestored: true, isCaughtUp: false });
    actor.send({ type: 'caughtUp' });
    expect(is({ following: 'live' })).toBe(true);
    expect(done).toEqual(['restore', 'restore', 'pipeline']);
  });

  it.each(['diverged', 'olderSnapshotNeeded'] as const)(
    'settles and restores once more when the stream has %s',
    async (fault) => {
      const { actor, done, restored, settled, fail } = follower();
      await restored();
      actor.send({ type: 'caughtUp' });
      fail({ fault });
      expect(actor.getSnapshot().matches('settling')).toBe(true);
      await settled();
      await restored();
      expect(done).toEqual(['restore', 'pipeline', 'settle', 'restore', 'pipeline']);
      const divergences = fault === 'diverged' ? 1 : 0;
      expect(actor.getSnapshot().context).toMatchObject({
        divergences,
        isRebuilding: true,
        isCaughtUp: true,
      });
      actor.send({ type: 'caughtUp' });
      expect(actor.getSnapshot().context.isRebuilding).toBe(false);
    },
  );

  it('ends with any other fault and names it', async () => {
    const { actor, restored, fail } = follower();
    await restored();
    const fault = new Error('a fault of this program');
    fail(fault);
    expect(actor.getSnapshot()).toMatchObject({ status: 'done', value: 'failed', output: { fault } });
  });

  it('waits for a restoration that is under way before tables are replaced', async () => {
    const { actor, done, is, restored, settled } = follower();
    actor.send({ type: 'replaced' });
    expect(is('restoring')).toBe(true);
    await restored();
    expect(done).toEqual(['restore', 'settle']);
    await settled();
    await restored();
    expect(is('following')).toBe(true);
    actor.send({ type: 'replaced' });
    expect(is('settling')).toBe(true);
  });

  it('drains the pipeline when it is stopped, within its grace period, whatever arrives meanwhile', async () => {
    for (const ending of ['completed', 'failed', 'grace'] as const) {
      const one = follower();
      await one.restored();
      one.actor.send({ type: 'stopped', graceMs: 5_000 });
      one.actor.send({ type: 'replaced' });
      expect(one.is({ following: 'draining' })).toBe(true);
      expect(one.done.at(-1)).toBe('end');
      if (ending === 'completed') one.complete();
      if (ending === 'failed') one.fail({ fault: 'diverged' });
      if (ending === 'grace') await vi.advanceTimersByTimeAsync(5_000);
      expect([ending, one.actor.getSnapshot().value, one.isPipelineObserved]).toEqual([
        ending,
        'stopped',
        false,
      ]);
    }
  });

  it('stops at once where nothing is followed', async () => {
    const restoring = follower();
    restoring.actor.send({ type: 'stopped', graceMs: 5_000 });
    expect(restoring.is('stopped')).toBe(true);
    const settling = follower();
    await settling.restored();
    settling.actor.send({ type: 'replaced' });
    settling.actor.send({ type: 'stopped', graceMs: 5_000 });
    expect(settling.is('stopped')).toBe(true);
  });
});
