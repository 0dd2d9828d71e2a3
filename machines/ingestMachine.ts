import { assign, raise, sendTo } from 'xstate';
import { passError } from './failures.ts';
import { ingest } from './ingestSetup.ts';

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
            guard: ({ event }) => event.output.fault === null,
            actions: raise({ type: 'leaseReleased' }),
          },
          { actions: raise(({ event }) => ({ type: 'leaseLost', error: event.output.fault })) },
        ],
        onError: { actions: raise(({ event }) => ({ type: 'leaseLost', error: event.error })) },
      },
      on: {
        leaseLost: { target: 'ended', actions: { type: 'noteFault', params: passError } },
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
          on: {
            preparationFailed: endOrRetry('releasing.retrying', 'releasing.ending'),
          },
          states: {
            /** Needs the lease, since a standby may have other settings. */
            ensuringStreams: {
              invoke: {
                src: 'ensureStreams',
                onDone: 'migrating',
                onError: { actions: { type: 'failPreparation', params: passError } },
              },
            },
            migrating: {
              invoke: {
                src: 'migrate',
                onDone: 'beginningEpoch',
                onError: { actions: { type: 'failPreparation', params: passError } },
              },
            },
            beginningEpoch: {
              invoke: {
                src: 'beginEpoch',
                onDone: {
                  target: 'preparingRows',
                  actions: assign({ epoch: ({ event }) => event.output }),
                },
                onError: { actions: { type: 'failPreparation', params: passError } },
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
                onError: { actions: { type: 'failPreparation', params: passError } },
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
            retrying: { on: { leaseReleased: '#ingest.waiting' } },
            ending: { on: { leaseReleased: '#ingest.ended' } },
          },
        },
      },
    },
    ended: { type: 'final' },
  },
  output: ({ context }) => ({ fault: context.fault }),
});
