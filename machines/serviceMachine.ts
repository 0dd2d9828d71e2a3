import { assign, raise, sendTo } from 'xstate';
import { passError } from './failureParams.ts';
import { requireValue } from './requireValue.ts';
import { operatorServer, publicServer, raiseFault } from './serviceServers.ts';
import { setUpService, type WorkMachines } from './serviceSetup.ts';
import { createFollowingState, createIndexingState } from './serviceWork.ts';

/** Of a fault, which is reported at the end. */
const noteFault = { type: 'noteFault', params: passError } as const;

/** A stop and a fault end the service in the same order, which begins with `target`. */
function endInOrder<const Target extends string>(target: Target) {
  return { stop: target, faulted: target } as const;
}

/** Another process ingests: nothing may be written any more, not even while the process stops. */
const abandon = { lost: { target: '#closingNats', actions: noteFault } } as const;

/** What ends the service, whatever it is doing, */
const endings = {
  stop: 'stopping',
  faulted: { target: 'stopping', actions: noteFault },
  lost: 'stopping',
} as const;

/** and what announces its end: until then everything is answered as before. */
const leave = {
  target: 'leaving',
  actions: {
    type: 'stopLater',
    params: ({ event: { drainMs } }: { event: { readonly drainMs: number } }) => ({ drainMs }),
  },
} as const;

/**
 * The root of a process: how long each child lives, what ends the process, and in which order it ends. The children themselves wait for
 * what is unavailable; a child that errors is a fault of the program and ends everything in order, as a stop does. Once another process
 * has taken over the ingest, nothing may be written any more, so nothing is drained.
 *
 * @typeParam Work followers, indexer and what reads for them; the machine only passes it to its actors and actions.
 * @param serves whether there is a public port; there is always one for operators.
 */
export function createServiceMachine<Work extends { readonly machines: WorkMachines }>(serves: boolean) {
  const service = setUpService<Work>();
  return service.createMachine({
    id: 'service',
    type: 'parallel',
    context: ({ input }) => ({
      ...input,
      portsToBind: serves ? 2 : 1,
      failures: 0,
      grant: null,
      work: null,
      fault: null,
    }),
    // They live as long as the root, unless they are closed before.
    invoke: serves ? [operatorServer, publicServer] : [operatorServer],
    states: {
      /** What those who send requests are told. */
      departure: {
        initial: 'staying',
        states: {
          staying: { on: { leave, ...endings } },
          leaving: { tags: 'leaving', entry: 'drainPublicServer', on: { leave, ...endings } },
          stopping: { type: 'final', tags: ['leaving', 'stopping'], entry: 'closePublicServer' },
        },
      },
      course: {
        initial: 'opening',
        states: {
          opening: {
            on: {
              portBound: [
                { guard: 'isLastPort', target: 'online' },
                { actions: assign({ portsToBind: ({ context }) => context.portsToBind - 1 }) },
              ],
              ...endInOrder('closingDatabase'),
            },
          },
          online: {
            invoke: [
              {
                id: 'nats',
                src: 'nats',
                onSnapshot: {
                  guard: ({ event }) => event.snapshot.hasTag('connected'),
                  actions: raise({ type: 'natsConnected' }),
                },
                onError: raiseFault,
              },
              { id: 'databaseWatch', src: 'databaseWatch', onError: raiseFault },
              { src: 'watchConditions', onError: raiseFault },
            ],
            initial: 'reaching',
            states: {
              reaching: {
                on: endInOrder('closingNats'),
                initial: 'connecting',
                states: {
                  connecting: { on: { natsConnected: 'openingJetStream' } },
                  openingJetStream: {
                    meta: { isRoutineInside: true },
                    initial: 'asking',
                    states: {
                      asking: {
                        invoke: {
                          src: 'openJetStream',
                          onDone: '#claimed',
                          onError: {
                            target: 'waiting',
                            actions: [
                              assign({ failures: ({ context }) => context.failures + 1 }),
                              { type: 'reportJetStreamFailure', params: passError },
                            ],
                          },
                        },
                      },
                      waiting: { after: { backoff: 'asking' } },
                    },
                  },
                },
              },
              /** The tables to work on are requested, granted and released. */
              claimed: {
                id: 'claimed',
                invoke: {
                  id: 'ingest',
                  src: 'ingest',
                  input: ({ context: { writes } }) => ({ writes }),
                  onSnapshot: {
                    guard: ({ event }) => event.snapshot.hasTag('granted'),
                    actions: raise(({ event }) => ({ type: 'granted', grant: event.snapshot.context.grant })),
                  },
                  onDone: [
                    {
                      guard: ({ event }) => event.output.fault !== null,
                      actions: raise(({ event }) => ({ type: 'lost', error: event.output.fault })),
                    },
                    { actions: raise({ type: 'released' }) },
                  ],
                  onError: { actions: raise(({ event }) => ({ type: 'lost', error: event.error })) },
                },
                initial: 'preparing',
                states: {
                  preparing: {
                    on: { ...endInOrder('releasing'), ...abandon },
                    initial: 'claiming',
                    states: {
                      claiming: {
                        on: {
                          granted: {
                            target: 'composing',
                            actions: assign({ grant: ({ event }) => event.grant }),
                          },
                        },
                      },
                      composing: {
                        invoke: {
                          src: 'compose',
                          input: ({ context }) => ({ grant: requireValue(context.grant, 'the grant') }),
                          onDone: {
                            target: '#working',
                            actions: assign({ work: ({ event }) => event.output }),
                          },
                          onError: raiseFault,
                        },
                      },
                    },
                  },
                  /** Each part is told to stop at the same time, and has its own grace period. */
                  working: {
                    id: 'working',
                    type: 'parallel',
                    on: abandon,
                    onDone: 'releasing',
                    states: {
                      indexing: createIndexingState(service),
                      following: createFollowingState(service),
                    },
                  },
                  releasing: {
                    entry: sendTo('ingest', { type: 'release' }),
                    on: { released: '#closingNats', lost: '#closingNats' },
                    after: { closeGrace: '#closingNats' },
                  },
                },
              },
              closingNats: {
                id: 'closingNats',
                invoke: { src: 'closeNats', onDone: '#closingDatabase', onError: '#closingDatabase' },
                after: { closeGrace: '#closingDatabase' },
              },
            },
          },
          closingDatabase: {
            id: 'closingDatabase',
            invoke: { src: 'closeDatabase', onDone: 'ended', onError: 'ended' },
            after: { databaseCloseGrace: 'ended' },
          },
          /** The operators' port closes with the root. */
          ended: { always: [{ guard: 'hasFault', target: 'failed' }, { target: 'stopped' }] },
          stopped: { type: 'final' },
          failed: { type: 'final' },
        },
      },
    },
  });
}

export type ServiceMachine<Work extends { readonly machines: WorkMachines }> = ReturnType<
  typeof createServiceMachine<Work>
>;
