import { assign, fromEventObservable, fromPromise, setup, stateIn } from 'xstate';
import { backoffDelay } from './backoff.ts';
import { passError, passFault } from './failureParams.ts';
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
}

/** What was found out about what is stored, and is not corrected yet. */
export interface StoredFaults {
  /** The stream turned out to be another one, and what was stored of it is not removed yet. */
  readonly hasDiverged: boolean;
  /** The fold goes back to before some of what it has stored. */
  readonly isRewinding: boolean;
}

/** Everything that the stream held when state was restored is folded. */
export interface CaughtUp {
  readonly type: 'caughtUp';
  /** Through where it is folded. */
  readonly position: number;
}

interface Context extends StoredFaults {
  /** Distinguishes the followers in logs and metrics. */
  readonly label: string;
  /** Consecutive failed attempts to restore. */
  readonly failures: number;
  /** State was restored at least once, so views answer from folded state. */
  readonly isRestored: boolean;
  /** Everything that the stream held at the start is folded in. */
  readonly isCaughtUp: boolean;
  /** State was restored again, after a divergence or a replay, and what the stream held at that time is not folded yet. */
  readonly isRebuilding: boolean;
  /** So much was folded to catch up that the state is to be saved now: the next start need not do so again. */
  readonly isSaveDue: boolean;
  /** How often the stream turned out not to be the one that was folded. */
  readonly divergences: number;
  /** Exchanges the tables that state is restored from; null unless others have replaced them since. */
  readonly exchange: (() => void) | null;
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
  types: {
    context: {} as Context,
    events: {} as
      | CaughtUp
      /** The state as of this place is being saved. */
      | { type: 'saving'; position: number }
      | { type: 'replaced'; exchange: () => void }
      | { type: 'stopped'; graceMs: number },
    input: {} as { readonly label: string },
    output: {} as { readonly fault: unknown },
  },
  actors: {
    restore: fromPromise<RestoredState, StoredFaults>(notProvided),
    /** Reports once it has caught up; completes after the end of the source. */
    pipeline: fromEventObservable<CaughtUp, RestoredState>(notProvided),
    /** Resolves when nothing of a cancelled pipeline is in progress, and replaced tables are exchanged. */
    settle: fromPromise<void, { readonly exchange: (() => void) | null }>(notProvided),
  },
  guards: {
    isReplaced: ({ context }) => context.exchange !== null,
    isDraining: stateIn({ following: 'draining' }),
    isFault: (_, _params: { error: unknown; fault: PipelineFault }): boolean => notProvided(),
  },
  actions: {
    noteSaveDue: assign({
      isSaveDue: ({ context }) =>
        context.isSaveDue || isLongWay(requireValue(context.restored, 'the restored state')),
    }),
    noteSaving: assign(({ context }, { position }: { position: number }) => ({
      isSaveDue: context.isSaveDue && position < (context.restored?.lastSequence ?? 0),
    })),
    /** Tells whoever provides the work which actor does it. */
    noteStarted: notProvided,
    noteRestoreFailure: (_, _params: { error: unknown }): void => notProvided(),
    noteFault: (_, _params: { error: unknown }): void => notProvided(),
    noteCaughtUp: (_, _params: { position: number }): void => notProvided(),
    noteRestored: assign((_, restored: RestoredState) => ({
      restored,
      failures: 0,
      hasDiverged: false,
      isRewinding: false,
    })),
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
    isRestored: false,
    isCaughtUp: false,
    isRebuilding: false,
    isSaveDue: false,
    divergences: 0,
    hasDiverged: false,
    isRewinding: false,
    exchange: null,
    restored: null,
    graceMs: 0,
    fault: null,
  }),
  initial: 'restoring',
  on: {
    stopped: '.stopped',
    replaced: { actions: assign({ exchange: ({ event }) => event.exchange }) },
    saving: {
      actions: { type: 'noteSaving', params: ({ event: { position } }) => ({ position }) },
    },
  },
  states: {
    restoring: {
      initial: 'working',
      states: {
        working: {
          invoke: {
            src: 'restore',
            input: ({ context: { hasDiverged, isRewinding } }) => ({ hasDiverged, isRewinding }),
            onDone: [
              {
                guard: 'isReplaced',
                target: '#streamFollower.settling',
                actions: { type: 'noteRestored', params: ({ event }) => event.output },
              },
              {
                target: '#streamFollower.following',
                actions: [
                  { type: 'noteRestored', params: ({ event }) => event.output },
                  assign({ isRestored: true }),
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
      initial: 'catchingUp',
      invoke: {
        src: 'pipeline',
        input: ({ context }) => requireValue(context.restored, 'the restored state'),
        onDone: 'stopped',
        onError: [
          { guard: 'isDraining', target: 'stopped' },
          {
            guard: { type: 'isFault', params: passFault('diverged') },
            target: 'settling',
            actions: [
              assign({ divergences: ({ context }) => context.divergences + 1, hasDiverged: true }),
              { type: 'noteFault', params: passError },
            ],
          },
          {
            guard: {
              type: 'isFault',
              params: passFault('olderSnapshotNeeded'),
            },
            target: 'settling',
            actions: [assign({ isRewinding: true }), { type: 'noteFault', params: passError }],
          },
          { target: 'failed', actions: assign({ fault: ({ event }) => event.error }) },
        ],
      },
      on: {
        replaced: { target: 'settling', actions: assign({ exchange: ({ event }) => event.exchange }) },
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
                assign({ isCaughtUp: true, isRebuilding: false }),
                'noteSaveDue',
                {
                  type: 'noteCaughtUp',
                  params: ({ event: { position } }) => ({ position }),
                },
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
    settling: {
      entry: assign({ isRebuilding: true }),
      invoke: {
        src: 'settle',
        input: ({ context: { exchange } }) => ({ exchange }),
        onDone: { target: 'restoring', actions: assign({ exchange: null }) },
      },
      // It settles once more, with the newer tables.
      on: {
        replaced: {
          target: 'settling',
          reenter: true,
          actions: assign({ exchange: ({ event }) => event.exchange }),
        },
      },
    },
    stopped: { type: 'final' },
    failed: { type: 'final' },
  },
  output: ({ context }) => ({ fault: context.fault }),
});

/** Whether everything was folded again, or much, to get from a restored state to what the stream held then. */
function isLongWay({ place, lastSequence }: RestoredState): boolean {
  const messages = lastSequence - place.position;
  return messages >= longWayMessages || (place.position === 0 && messages > 0);
}
