import { assign, raise, sendTo } from 'xstate';
import { passError, passErrorAsFault, passFault } from './failureParams.ts';
import { ingest } from './ingestSetup.ts';
import { requireValue } from './requireValue.ts';

/** Transitions after a failure: an unusable database ends the process; any other failure is reported and retried. */
function endOrRetry(retry: string, end = '#ingest.ended') {
  return [
    {
      guard: { type: 'isFault', params: passFault('unusableDatabase') },
      target: end,
      actions: { type: 'noteFault', params: passErrorAsFault },
    },
    { target: retry, actions: ['noteFailure', { type: 'reportFailure', params: passError }] },
  ] as const;
}

/**
 * Obtains the tables that a process works on. A process that only reads uses the active tables. A process that ingests waits for the
 * lease of the database, migrates the tables, begins an epoch, and chooses the generation that it writes to. It ends when another process
 * has taken over. If a preparation fails, the lease is released, since another process may succeed.
 */
export const ingestMachine = ingest.createMachine({
  id: 'ingest',
  context: ({ input: { writes } }) => ({
    writes,
    name: '',
    isUnused: false,
    failures: 0,
    hasReportedReplay: false,
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
            src: 'readActive',
            onDone: {
              target: 'granted',
              actions: assign({
                grant: ({ event }) => ({ epoch: null, generation: event.output, rebuildsFrom: null }),
              }),
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
        leaseLost: { target: 'ended', actions: { type: 'noteFault', params: passErrorAsFault } },
        release: '.releasing.ending',
        superseded: {
          target: '.releasing.ending',
          actions: { type: 'noteFault', params: passErrorAsFault },
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
                  target: 'choosingGeneration',
                  actions: assign({ epoch: ({ event }) => event.output }),
                },
                onError: { actions: { type: 'failPreparation', params: passError } },
              },
            },
            choosingGeneration: {
              invoke: {
                src: 'chooseGeneration',
                input: ({ context: { epoch } }) => ({ epoch }),
                onDone: {
                  target: '#ingest.leasing.ingesting',
                  actions: [
                    assign({
                      grant: ({ context: { epoch }, event }) => ({ epoch, ...event.output }),
                      failures: 0,
                    }),
                    'reportGrant',
                  ],
                },
                onError: [
                  {
                    guard: { type: 'isFault', params: passFault('replayRunning') },
                    target: 'awaitingReplay',
                    actions: [
                      { type: 'reportReplay', params: passError },
                      assign({ hasReportedReplay: true }),
                    ],
                  },
                  { actions: { type: 'failPreparation', params: passError } },
                ],
              },
            },
            /** An operator's replay is filling tables; neither process may replace the other's. */
            awaitingReplay: { after: { replayCheck: 'choosingGeneration' } },
          },
        },
        ingesting: {
          tags: 'granted',
          type: 'parallel',
          states: {
            epoch: {
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
            tables: {
              initial: 'deciding',
              states: {
                deciding: { always: [{ guard: 'isRebuilding', target: 'rebuilding' }, { target: 'active' }] },
                active: {},
                rebuilding: {
                  tags: 'rebuilding',
                  initial: 'filling',
                  exit: 'releaseRebuild',
                  states: {
                    filling: { on: { rebuilt: 'activating' } },
                    activating: {
                      invoke: {
                        src: 'activate',
                        input: ({ context: { grant } }) => ({ grant: requireValue(grant, 'the grant') }),
                        onDone: '#ingest.leasing.ingesting.tables.active',
                        onError: {
                          target: 'waiting',
                          actions: { type: 'reportActivationFailure', params: passError },
                        },
                      },
                    },
                    /** Without another reading no state is saved again, so this does not wait for one. */
                    waiting: { after: { activationRetry: 'activating' } },
                  },
                },
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
