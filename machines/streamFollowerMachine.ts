import { assign, fromObservable, fromPromise, setup } from 'xstate';
import { backoffMs } from './backoff.ts';
import { passError, passFault } from './failureParams.ts';
import { notProvided } from './notProvided.ts';

/** Why a pipeline ended without being asked to. */
export type PipelineFault =
  /** The stream is not the one that was folded. */
  | 'diverged'
  /** The fold needs an older snapshot than the restored one. */
  | 'olderSnapshotNeeded';

interface Context {
  /** Consecutive failed attempts to restore. */
  readonly failures: number;
  /** State was restored at least once, so views answer from folded state. */
  readonly isRestored: boolean;
  /** Everything that the stream held at the start is folded in. */
  readonly isCaughtUp: boolean;
  /** State was restored again, after a divergence or a replay, and what the stream held at that time is not folded yet. */
  readonly isRebuilding: boolean;
  /** How often the stream turned out not to be the one that was folded. */
  readonly divergences: number;
  /** The tables that state is restored from were replaced, so it is restored again. */
  readonly isReplaced: boolean;
  /** It is ending, and the messages already taken are being stored. */
  readonly isStopping: boolean;
  readonly graceMs: number;
  /** The unexpected error that ended it. */
  readonly fault: unknown;
}

/**
 * The follower of one stream: a snapshot is restored, and the messages after it run through the pipeline. A divergence, a fold that needs an older
 * snapshot, and tables that a replay has replaced lead back to restoring, once nothing of the pipeline is in progress. When it is stopped,
 * the messages already taken from the stream are stored and saved within a grace period.
 */
export const streamFollowerMachine = setup({
  types: {
    context: {} as Context,
    events: {} as
      /** Everything that the stream held when state was restored is folded. */
      { type: 'caughtUp' } | { type: 'replaced' } | { type: 'stopped'; graceMs: number },
    output: {} as { readonly fault: unknown },
  },
  actors: {
    restore: fromPromise<void>(notProvided),
    /** Completes after the end of the source. */
    pipeline: fromObservable<never, undefined>(notProvided),
    /** Resolves when nothing of a cancelled pipeline is in progress, and replaced tables are exchanged. */
    settle: fromPromise<void>(notProvided),
  },
  guards: {
    isReplaced: ({ context }) => context.isReplaced,
    isStopping: ({ context }) => context.isStopping,
    isFault: (_, _params: { error: unknown; fault: PipelineFault }): boolean => notProvided(),
  },
  actions: {
    noteRestoreFailure: (_, _params: { error: unknown }): void => notProvided(),
    noteFault: (_, _params: { error: unknown }): void => notProvided(),
    noteFollowing: notProvided,
    endSource: notProvided,
  },
  delays: {
    backoff: ({ context }) => backoffMs(context.failures, Math.random()),
    grace: ({ context }) => context.graceMs,
  },
}).createMachine({
  id: 'streamFollower',
  context: {
    failures: 0,
    isRestored: false,
    isCaughtUp: false,
    isRebuilding: false,
    divergences: 0,
    isReplaced: false,
    isStopping: false,
    graceMs: 0,
    fault: null,
  },
  initial: 'restoring',
  on: {
    stopped: '.stopped',
    replaced: { actions: assign({ isReplaced: true }) },
  },
  states: {
    restoring: {
      initial: 'working',
      states: {
        working: {
          invoke: {
            src: 'restore',
            onDone: [
              { guard: 'isReplaced', target: '#streamFollower.settling' },
              {
                target: '#streamFollower.following',
                actions: assign({ isRestored: true, failures: 0 }),
              },
            ],
            onError: {
              target: 'waiting',
              actions: [
                assign({ failures: ({ context }) => context.failures + 1 }),
                { type: 'noteRestoreFailure', params: passError },
              ],
            },
          },
        },
        /** NATS or the database is unavailable. */
        waiting: { after: { backoff: 'working' } },
      },
    },
    following: {
      initial: 'catchingUp',
      entry: 'noteFollowing',
      invoke: {
        src: 'pipeline',
        onDone: 'stopped',
        onError: [
          { guard: 'isStopping', target: 'stopped' },
          {
            guard: { type: 'isFault', params: passFault('diverged') },
            target: 'settling',
            actions: [
              assign({ divergences: ({ context }) => context.divergences + 1 }),
              { type: 'noteFault', params: passError },
            ],
          },
          {
            guard: {
              type: 'isFault',
              params: passFault('olderSnapshotNeeded'),
            },
            target: 'settling',
            actions: { type: 'noteFault', params: passError },
          },
          { target: 'failed', actions: assign({ fault: ({ event }) => event.error }) },
        ],
      },
      on: {
        replaced: { target: 'settling', actions: assign({ isReplaced: true }) },
        stopped: {
          target: '.draining',
          actions: assign({ isStopping: true, graceMs: ({ event }) => event.graceMs }),
        },
      },
      states: {
        catchingUp: {
          on: {
            caughtUp: { target: 'live', actions: assign({ isCaughtUp: true, isRebuilding: false }) },
          },
        },
        live: {},
        draining: {
          entry: 'endSource',
          on: { replaced: {}, stopped: {} },
          after: { grace: '#streamFollower.stopped' },
        },
      },
    },
    settling: {
      entry: assign({ isRebuilding: true }),
      invoke: { src: 'settle', onDone: { target: 'restoring', actions: assign({ isReplaced: false }) } },
    },
    stopped: { type: 'final' },
    failed: { type: 'final' },
  },
  output: ({ context }) => ({ fault: context.fault }),
});
