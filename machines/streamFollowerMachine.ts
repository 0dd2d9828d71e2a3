import { assign, fromEventObservable, fromPromise, sendTo, setup, stateIn } from 'xstate';
import { backoffDelay } from './backoff.ts';
import { passError, passFault } from './failureParams.ts';
import { foldMachine } from './foldMachine.ts';
import { notProvided } from './notProvided.ts';
import { requireValue } from './requireValue.ts';

/** So many messages are a reason to save the state once they are folded. */
const longWayMessages = 10_000;

/** Why a pipeline ended without being asked to. */
export type PipelineFault =
  /** The stream is not the one that was folded. */
  | 'diverged'
  /** The fold needs an older snapshot than the restored one. */
  | 'olderSnapshotNeeded';

/** What a fold was restored to. */
export interface RestoredState {
  /** Through where it is folded: the pipeline begins behind it. */
  readonly place: {
    readonly streamCreated: string | null;
    readonly position: number;
    readonly digest: string | null;
  };
  /** What the stream held then; once that is folded, the follower has caught up. */
  readonly lastSequence: number;
  /** A newer snapshot, or what is stored, was found to be of another stream. */
  readonly hasDiverged: boolean;
}

export interface RestorationInput {
  /** Why the pipeline before it ended, where what it stored is not corrected yet. */
  readonly fault: PipelineFault | null;
}

/** Everything that the stream held when state was restored is folded. */
export interface CaughtUp {
  readonly type: 'caughtUp';
  /** Through where it is folded. */
  readonly position: number;
}

interface Context {
  /** Distinguishes the followers in logs and metrics. */
  readonly label: string;
  /** Consecutive failed attempts to restore. */
  readonly failures: number;
  /** How often the stream turned out not to be the one that was folded. */
  readonly divergences: number;
  /** Why the last pipeline ended, until state is restored. */
  readonly uncorrected: PipelineFault | null;
  /** Of the tables that a replay has activated, until state is restored from them; null where those in use are the active ones. */
  readonly generation: number | null;
  /** Null before the first time. */
  readonly restored: RestoredState | null;
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
  types: {} as {
    context: Context;
    events:
      | CaughtUp
      /** The state as of this place is being saved. */
      | { type: 'saving'; position: number }
      /** A replay has activated the tables of another generation. */
      | { type: 'replaced'; generation: number }
      | { type: 'stopped'; graceMs: number };
    children: { fold: 'fold' };
    input: { readonly label: string };
    output: { readonly fault: unknown };
    /** So much was folded to catch up that the state is to be saved now: the next start need not do so again. */
    tags: 'saveDue';
  },
  actors: {
    fold: foldMachine,
    restore: fromPromise<RestoredState, RestorationInput>(notProvided),
    /** Reports once it has caught up; completes after the end of the source. */
    pipeline: fromEventObservable<CaughtUp, RestoredState>(notProvided),
    /** Resolves when nothing of a cancelled pipeline is in progress, and the tables of the generation are in use, if there is one. */
    awaitIdle: fromPromise<void, { readonly generation: number | null }>(notProvided),
  },
  guards: {
    isReplaced: ({ context }) => context.generation !== null,
    isDraining: stateIn({ following: { progress: 'draining' } }),
    wasLongWay: ({ context }) => isLongWay(requireValue(context.restored, 'the restored state')),
    /** The state that is being saved has everything that the way led to. */
    coversWay: ({ context }, { position }: { position: number }) =>
      position >= requireValue(context.restored, 'the restored state').lastSequence,
    isFault: (_, _params: { error: unknown; fault: PipelineFault }): boolean => notProvided(),
  },
  actions: {
    /** Tells whoever provides the work which actor does it. */
    noteStarted: notProvided,
    noteReplaced: assign((_, { generation }: { generation: number }) => ({ generation })),
    noteRestored: assign(({ context }, { restored }: { restored: RestoredState }) => ({
      restored,
      failures: 0,
      // What the pipeline before has met is counted already.
      divergences: context.divergences + (restored.hasDiverged && context.uncorrected !== 'diverged' ? 1 : 0),
      uncorrected: null,
    })),
    noteRestoreFailure: (_, _params: { error: unknown }): void => notProvided(),
    noteUncorrected: assign((_, { uncorrected }: { uncorrected: PipelineFault }) => ({ uncorrected })),
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
    uncorrected: null,
    generation: null,
    restored: null,
    graceMs: 0,
    fault: null,
  }),
  invoke: { id: 'fold', src: 'fold', input: ({ context: { label } }) => ({ label }) },
  initial: 'restoring',
  on: {
    stopped: '.stopped',
    replaced: { actions: { type: 'noteReplaced', params: passGeneration } },
  },
  states: {
    restoring: {
      initial: 'working',
      states: {
        working: {
          invoke: {
            src: 'restore',
            input: ({ context: { uncorrected } }) => ({ fault: uncorrected }),
            onDone: [
              {
                guard: 'isReplaced',
                target: '#streamFollower.awaitingIdle',
                actions: { type: 'noteRestored', params: passRestored },
              },
              {
                target: '#streamFollower.following',
                actions: [
                  { type: 'noteRestored', params: passRestored },
                  sendTo('fold', { type: 'restored' }),
                ],
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
      type: 'parallel',
      invoke: {
        src: 'pipeline',
        input: ({ context }) => requireValue(context.restored, 'the restored state'),
        onDone: 'stopped',
        onError: [
          { guard: 'isDraining', target: 'stopped' },
          {
            guard: { type: 'isFault', params: passFault('diverged') },
            target: 'awaitingIdle',
            actions: [
              assign({ divergences: ({ context }) => context.divergences + 1 }),
              { type: 'noteUncorrected', params: { uncorrected: 'diverged' } },
              { type: 'noteFault', params: passError },
            ],
          },
          {
            guard: { type: 'isFault', params: passFault('olderSnapshotNeeded') },
            target: 'awaitingIdle',
            actions: [
              { type: 'noteUncorrected', params: { uncorrected: 'olderSnapshotNeeded' } },
              { type: 'noteFault', params: passError },
            ],
          },
          { target: 'failed', actions: assign({ fault: ({ event }) => event.error }) },
        ],
      },
      states: {
        progress: {
          initial: 'catchingUp',
          on: {
            replaced: {
              target: '#streamFollower.awaitingIdle',
              actions: { type: 'noteReplaced', params: passGeneration },
            },
            stopped: {
              target: '.draining',
              actions: assign({ graceMs: ({ event }) => event.graceMs }),
            },
          },
          states: {
            catchingUp: {
              on: {
                caughtUp: {
                  target: 'live',
                  actions: [
                    sendTo('fold', { type: 'caughtUp' }),
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
        save: {
          initial: 'notDue',
          states: {
            notDue: { on: { caughtUp: { guard: 'wasLongWay', target: 'due' } } },
            due: {
              tags: 'saveDue',
              on: {
                saving: {
                  guard: { type: 'coversWay', params: ({ event: { position } }) => ({ position }) },
                  target: 'notDue',
                },
              },
            },
          },
        },
      },
    },
    /** Until nothing that the cancelled pipeline has begun is in progress. */
    awaitingIdle: {
      entry: sendTo('fold', { type: 'restarted' }),
      invoke: {
        src: 'awaitIdle',
        input: ({ context: { generation } }) => ({ generation }),
        onDone: { target: 'restoring', actions: assign({ generation: null }) },
      },
      // It is waited once more, with the newer tables.
      on: {
        replaced: {
          target: 'awaitingIdle',
          reenter: true,
          actions: { type: 'noteReplaced', params: passGeneration },
        },
      },
    },
    stopped: { type: 'final' },
    failed: { type: 'final' },
  },
  output: ({ context }) => ({ fault: context.fault }),
});

function passGeneration({ event }: { readonly event: { readonly generation: number } }) {
  return { generation: event.generation };
}

function passRestored({ event }: { readonly event: { readonly output: RestoredState } }) {
  return { restored: event.output };
}

/** Whether everything was folded again, or much, to get from a restored state to what the stream held then. */
function isLongWay({ place, lastSequence }: RestoredState): boolean {
  const messages = lastSequence - place.position;
  return messages >= longWayMessages || (place.position === 0 && messages > 0);
}
