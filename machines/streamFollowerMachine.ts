import { assign, fromEventObservable, fromPromise, setup, stateIn } from 'xstate';
import { backoffDelay } from './backoff.ts';
import { type ErrorKind, hasKind, passError, readKind } from './failures.ts';
import { notProvided } from './notProvided.ts';
import { requireValue } from './requireValue.ts';

/** Why a pipeline ended without a request. */
export type PipelineFault = Extract<ErrorKind, 'diverged' | 'olderSnapshotNeeded'>;

/** Where a restoration leaves the fold. */
export interface RestoredState {
  /** Last folded stream position. The pipeline begins after it. */
  readonly streamPosition: {
    readonly streamCreated: string | null;
    readonly position: number;
    readonly digest: string | null;
  };
  /** Last message of the stream at the restoration. Once it is folded, the follower has caught up. */
  readonly lastSequence: number;
  /** Whether a newer snapshot, or stored rows, belong to another stream. */
  readonly hasDiverged: boolean;
}

export interface RestorationInput {
  /** Why the previous pipeline ended, if its stored rows are not corrected yet. */
  readonly fault: PipelineFault | null;
}

/** All messages that the stream held at the restoration are folded. */
export interface CaughtUp {
  readonly type: 'caughtUp';
  /** Last folded stream position. */
  readonly position: number;
}

interface Context {
  /** Name of the follower in logs and metrics. */
  readonly label: string;
  /** Consecutive failed attempts to restore. */
  readonly failures: number;
  /** How often the stream differed from the folded one. */
  readonly divergences: number;
  /** Why the last pipeline ended, for the next restoration to repair; null once state is restored. */
  readonly pendingFault: PipelineFault | null;
  /** Whether a replay has made another state, which is not restored yet. */
  readonly isReplaced: boolean;
  /** Null before the first restoration. */
  readonly restored: RestoredState | null;
  /** The state was restored at least once, so views can show it. They also show it while it is restored again. */
  readonly isRestored: boolean;
  /** All messages that the stream held at a restoration were folded at least once. */
  readonly wasCurrent: boolean;
  /** All messages that the stream held at the last restoration are folded. */
  readonly isCurrent: boolean;
  /** Catching up folded messages, so the state should be saved now, to spare the next start that work. */
  readonly isSaveDue: boolean;
  readonly graceMs: number;
  /** The unexpected error that ended the follower. */
  readonly fault: unknown;
}

/**
 * The follower of one stream. It restores a snapshot and runs the messages after it through the pipeline. After a divergence, a need for an
 * older snapshot, or a replay, it waits until the pipeline is idle and restores again. When it is stopped, the messages already
 * taken from the stream are stored and saved within a grace period.
 */
export const streamFollowerMachine = setup({
  types: {} as {
    context: Context;
    events:
      | CaughtUp
      /** The state at this position is being saved. */
      | { type: 'saving'; position: number }
      /** A replay has made another state. */
      | { type: 'replaced' }
      | { type: 'stopped'; graceMs: number };
    input: { readonly label: string };
    output: { readonly fault: unknown };
  },
  actors: {
    restore: fromPromise<RestoredState, RestorationInput>(notProvided),
    /** Reports when it has caught up. Completes after the end of the source. */
    pipeline: fromEventObservable<CaughtUp, RestoredState>(notProvided),
    /** Resolves when a cancelled pipeline is idle. */
    awaitIdle: fromPromise<void>(notProvided),
  },
  guards: {
    isReplaced: ({ context }) => context.isReplaced,
    isDraining: stateIn({ following: 'draining' }),
    /** Whether the saved state includes everything that was folded to catch up. */
    coversWay: ({ context }, { position }: { position: number }) =>
      position >= requireValue(context.restored, 'the restored state').lastSequence,
    needsRestoration: hasKind('diverged', 'olderSnapshotNeeded'),
  },
  actions: {
    /** Gives the provider of the work access to the running actor. */
    noteStarted: notProvided,
    noteReplaced: assign({ isReplaced: true }),
    noteRestored: assign(({ context }, { restored }: { restored: RestoredState }) => ({
      restored,
      failures: 0,
      // A divergence that the previous pipeline met is already counted.
      divergences:
        context.divergences + (restored.hasDiverged && context.pendingFault !== 'diverged' ? 1 : 0),
      pendingFault: null,
      isSaveDue: false,
    })),
    noteCurrent: assign(({ context }) => {
      const { streamPosition, lastSequence } = requireValue(context.restored, 'the restored state');
      return { wasCurrent: true, isCurrent: true, isSaveDue: lastSequence > streamPosition.position };
    }),
    noteRestoreFailure: (_, _params: { error: unknown }): void => notProvided(),
    notePendingFault: assign(({ context }, { error }: { error: unknown }) => ({
      pendingFault: readKind(error) as PipelineFault,
      divergences: context.divergences + (readKind(error) === 'diverged' ? 1 : 0),
    })),
    noteFault: (_, _params: { error: unknown }): void => notProvided(),
    noteCaughtUp: (_, _params: { position: number }): void => notProvided(),
    endSource: notProvided,
  },
  delays: {
    backoff: backoffDelay(),
    grace: ({ context }) => context.graceMs,
  },
}).createMachine({
  id: 'streamFollower',
  entry: 'noteStarted',
  context: ({ input: { label } }) => ({
    label,
    failures: 0,
    divergences: 0,
    pendingFault: null,
    isReplaced: false,
    restored: null,
    isRestored: false,
    wasCurrent: false,
    isCurrent: false,
    isSaveDue: false,
    graceMs: 0,
    fault: null,
  }),
  initial: 'restoring',
  on: {
    stopped: '.stopped',
    replaced: { actions: 'noteReplaced' },
  },
  states: {
    restoring: {
      initial: 'working',
      states: {
        working: {
          invoke: {
            src: 'restore',
            input: ({ context: { pendingFault } }) => ({ fault: pendingFault }),
            onDone: [
              {
                guard: 'isReplaced',
                target: '#streamFollower.awaitingIdle',
                actions: { type: 'noteRestored', params: passRestored },
              },
              {
                target: '#streamFollower.following',
                actions: [{ type: 'noteRestored', params: passRestored }, assign({ isRestored: true })],
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
      invoke: {
        src: 'pipeline',
        input: ({ context }) => requireValue(context.restored, 'the restored state'),
        onDone: 'stopped',
        onError: [
          { guard: 'isDraining', target: 'stopped' },
          {
            guard: 'needsRestoration',
            target: 'awaitingIdle',
            actions: [
              { type: 'notePendingFault', params: passError },
              { type: 'noteFault', params: passError },
            ],
          },
          { target: 'failed', actions: assign({ fault: ({ event }) => event.error }) },
        ],
      },
      initial: 'catchingUp',
      on: {
        replaced: 'awaitingIdle',
        saving: {
          guard: { type: 'coversWay', params: ({ event: { position } }) => ({ position }) },
          actions: assign({ isSaveDue: false }),
        },
        stopped: { target: '.draining', actions: assign({ graceMs: ({ event }) => event.graceMs }) },
      },
      states: {
        catchingUp: {
          on: {
            caughtUp: {
              target: 'live',
              actions: [
                'noteCurrent',
                { type: 'noteCaughtUp', params: ({ event: { position } }) => ({ position }) },
              ],
            },
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
    awaitingIdle: {
      entry: assign({ isCurrent: false }),
      invoke: {
        src: 'awaitIdle',
        onDone: { target: 'restoring', actions: assign({ isReplaced: false }) },
      },
      // It is restored next.
      on: { replaced: {} },
    },
    stopped: { type: 'final' },
    failed: { type: 'final' },
  },
  output: ({ context }) => ({ fault: context.fault }),
});

function passRestored({ event }: { readonly event: { readonly output: RestoredState } }) {
  return { restored: event.output };
}
