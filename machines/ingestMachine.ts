import { assign, fromPromise, raise, sendTo, setup, stateIn } from 'xstate';
import { type BackoffBounds, backoffDelay } from './backoff.ts';
import { hasKind, passError } from './failures.ts';
import { leaseMachine } from './leaseMachine.ts';
import { notProvided } from './notProvided.ts';

const backoff: BackoffBounds = { firstMs: 500, longestMs: 1_000 };
/** How often to check whether another process has begun an epoch. */
const epochCheckMs = 5_000;

export interface Grant {
  /** Epoch in which the process writes; null if it only reads. */
  readonly epoch: number | null;
}

interface Context {
  /** Whether this process ingests; otherwise it only reads. */
  readonly writes: boolean;
  readonly name: string;
  readonly isUnused: boolean;
  /** Consecutive failures of the steps before the grant. */
  readonly failures: number;
  readonly epoch: number;
  readonly grant: Grant | null;
  readonly fault: unknown;
}

const ingest = setup({
  types: {} as {
    context: Context;
    input: { readonly writes: boolean };
    events:
      | { type: 'release' }
      /** Another process has begun a later epoch. */
      | { type: 'superseded'; error: unknown }
      | { type: 'leaseHeld' };
    children: { lease: 'lease' };
    output: { readonly fault: unknown };
    tags: 'granted';
  },
  actors: {
    lease: leaseMachine,
    /** Checks that what is stored can be read. */
    checkStored: fromPromise<void>(notProvided),
    /** Name of the lease, and whether no process has ever ingested into the database. */
    identify: fromPromise<{ readonly name: string; readonly isUnused: boolean }>(notProvided),
    ensureStreams: fromPromise<void>(notProvided),
    migrate: fromPromise<void>(notProvided),
    beginEpoch: fromPromise<number>(notProvided),
    /** Leaves out what lost streams have made, and sets for how long rows are kept. */
    prepareRows: fromPromise<void, { readonly epoch: number }>(notProvided),
    /** Checks whether a later epoch has begun, and sends `superseded` if so. */
    checkEpoch: fromPromise<void, { readonly epoch: number }>(notProvided),
  },
  guards: {
    writes: ({ context }) => context.writes,
    isUnusable: hasKind('unusable'),
    /** The lease was released since a preparation failed. */
    isRetrying: stateIn({ leasing: { releasing: 'retrying' } }),
  },
  actions: {
    noteFailure: assign({ failures: ({ context }) => context.failures + 1 }),
    noteFault: assign((_, { error }: { error: unknown }) => ({ fault: error })),
    reportFailure: (_, _params: { error: unknown }): void => notProvided(),
    reportGrant: (): void => notProvided(),
  },
  delays: {
    backoff: backoffDelay(backoff),
    epochCheck: epochCheckMs,
  },
});

/** Transitions after a failure: an unusable database ends the process; any other failure is reported and retried. */
function endOrRetry(retry: string, end = '#ingest.ended') {
  return [
    {
      guard: 'isUnusable',
      target: end,
      actions: { type: 'noteFault', params: passError },
    },
    { target: retry, actions: ['noteFailure', { type: 'reportFailure', params: passError }] },
  ] as const;
}

/** The lease is released first. */
const preparationFailed = endOrRetry(
  '#ingest.leasing.releasing.retrying',
  '#ingest.leasing.releasing.ending',
);

/**
 * Obtains what a process may do with the database. A process that only reads checks that it can. A process that ingests waits for the lease of the
 * database, migrates the tables and begins an epoch. It ends when another process has taken over. If a preparation fails, the lease is released, since
 * another process may succeed.
 */
export const ingestMachine = ingest.createMachine({
  id: 'ingest',
  context: ({ input: { writes } }) => ({
    writes,
    name: '',
    isUnused: false,
    failures: 0,
    epoch: 0,
    grant: null,
    fault: null,
  }),
  initial: 'deciding',
  states: {
    deciding: { always: [{ guard: 'writes', target: 'identifying' }, { target: 'reading' }] },
    reading: {
      initial: 'asking',
      on: { release: 'ended' },
      states: {
        asking: {
          invoke: {
            src: 'checkStored',
            onDone: {
              target: 'granted',
              actions: assign({ grant: { epoch: null } }),
            },
            onError: endOrRetry('waiting'),
          },
        },
        waiting: { after: { backoff: 'asking' } },
        granted: { tags: 'granted' },
      },
    },
    identifying: {
      on: { release: 'ended' },
      invoke: {
        src: 'identify',
        onDone: { target: 'leasing', actions: assign(({ event }) => event.output) },
        onError: endOrRetry('waiting'),
      },
    },
    waiting: { on: { release: 'ended' }, after: { backoff: 'identifying' } },
    leasing: {
      invoke: {
        id: 'lease',
        src: 'lease',
        input: ({ context: { name, isUnused } }) => ({ name, isUnused }),
        onSnapshot: {
          guard: ({ event }) => event.snapshot.hasTag('held'),
          actions: raise({ type: 'leaseHeld' }),
        },
        onDone: [
          {
            guard: function isLost({ event }) {
              return event.output.fault !== null;
            },
            target: 'ended',
            actions: assign({ fault: ({ event }) => event.output.fault }),
          },
          { guard: 'isRetrying', target: 'waiting' },
          { target: 'ended' },
        ],
        onError: { target: 'ended', actions: { type: 'noteFault', params: passError } },
      },
      on: {
        release: '.releasing.ending',
        superseded: {
          target: '.releasing.ending',
          actions: { type: 'noteFault', params: passError },
        },
      },
      initial: 'contending',
      states: {
        contending: { on: { leaseHeld: 'preparing' } },
        preparing: {
          initial: 'ensuringStreams',
          states: {
            /** Needs the lease, since a standby may have other settings. */
            ensuringStreams: {
              invoke: {
                src: 'ensureStreams',
                onDone: 'migrating',
                onError: preparationFailed,
              },
            },
            migrating: {
              invoke: {
                src: 'migrate',
                onDone: 'beginningEpoch',
                onError: preparationFailed,
              },
            },
            beginningEpoch: {
              invoke: {
                src: 'beginEpoch',
                onDone: {
                  target: 'preparingRows',
                  actions: assign({ epoch: ({ event }) => event.output }),
                },
                onError: preparationFailed,
              },
            },
            preparingRows: {
              invoke: {
                src: 'prepareRows',
                input: ({ context: { epoch } }) => ({ epoch }),
                onDone: {
                  target: '#ingest.leasing.ingesting',
                  actions: [
                    assign({ grant: ({ context: { epoch } }) => ({ epoch }), failures: 0 }),
                    'reportGrant',
                  ],
                },
                onError: preparationFailed,
              },
            },
          },
        },
        ingesting: {
          tags: 'granted',
          meta: { isRoutineInside: true },
          initial: 'waiting',
          states: {
            waiting: { after: { epochCheck: 'checking' } },
            checking: {
              invoke: {
                src: 'checkEpoch',
                input: ({ context: { epoch } }) => ({ epoch }),
                onDone: 'waiting',
                // The parts that use the database log that it is unavailable.
                onError: 'waiting',
              },
            },
          },
        },
        releasing: {
          entry: sendTo('lease', { type: 'release' }),
          initial: 'retrying',
          states: {
            /** The preparation failed. This process tries again, unless another one has the lease by then. */
            retrying: {},
            ending: {},
          },
        },
      },
    },
    ended: { type: 'final' },
  },
  output: ({ context }) => ({ fault: context.fault }),
});
