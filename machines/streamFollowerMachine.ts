import { assign, fromObservable, fromPromise, setup } from 'xstate';
import { backoffMs } from './backoff.ts';
import { notProvided } from './notProvided.ts';

/** Why a pipeline ended that was not told to. */
export type PipelineFault =
  /** The stream is another one than the folded one. */
  | 'diverged'
  /** The fold needs an older snapshot than the one that it had. */
  | 'olderSnapshotNeeded';

interface Context {
  /** Attempts to restore that failed, in a row. */
  readonly failures: number;
  /** State was restored at least once, so views tell what was folded. */
  readonly isRestored: boolean;
  /** Everything that the stream held at the start is folded in. */
  readonly isCaughtUp: boolean;
  /** State was restored once more, after a divergence or a replay, and what the stream held then is not folded yet. */
  readonly isRebuilding: boolean;
  /** Times that the stream turned out to be another than the folded one. */
  readonly divergences: number;
  /** Others take the place of what is restored from, before it is restored again. */
  readonly isReplaced: boolean;
  /** It ends, and what was taken is being stored. */
  readonly isStopping: boolean;
  readonly graceMs: number;
  /** What ended it that should not have. */
  readonly fault: unknown;
}

/**
 * The follower of one stream: a snapshot is restored, and what follows runs through the pipeline. A divergence, a fold that needs an older
 * snapshot, and tables that a replay has replaced lead back to restoring, once nothing of the pipeline is under way. When it is stopped,
 * what has been taken from the stream is stored and saved, within a grace.
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
    /** Completes behind the end of the source. */
    pipeline: fromObservable<never, undefined>(notProvided),
    /** Resolves when nothing of a cancelled pipeline is under way, and everything is exchanged that was replaced. */
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
                { type: 'noteRestoreFailure', params: ({ event }) => ({ error: event.error }) },
              ],
            },
          },
        },
        /** A part is unavailable. */
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
            guard: { type: 'isFault', params: ({ event }) => ({ error: event.error, fault: 'diverged' }) },
            target: 'settling',
            actions: [
              assign({ divergences: ({ context }) => context.divergences + 1 }),
              { type: 'noteFault', params: ({ event }) => ({ error: event.error }) },
            ],
          },
          {
            guard: {
              type: 'isFault',
              params: ({ event }) => ({ error: event.error, fault: 'olderSnapshotNeeded' }),
            },
            target: 'settling',
            actions: { type: 'noteFault', params: ({ event }) => ({ error: event.error }) },
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
