import { assign, raise, sendTo } from 'xstate';
import { passError } from './failures.ts';
import { requireValue } from './requireValue.ts';
import { operatorServer, publicServer, raiseFault } from './serviceServers.ts';
import { setUpService, type WorkMachines } from './serviceSetup.ts';
import { createFollowingState, createIndexingState } from './serviceWork.ts';

/** Keeps a fault, which is reported at the end. */
const noteFault = { type: 'noteFault', params: passError } as const;

/** Transitions to the first step of an orderly end, after a stop or a fault. */
function endInOrder<const Target extends string>(target: Target) {
  return { stop: target, faulted: target } as const;
}

/** Another process ingests, so this one may not write any more, not even while it stops. */
const abandon = { lost: { target: '#closingNats', actions: noteFault } } as const;

/** Transitions that end the service in any state. */
const endings = {
  stop: 'stopping',
  faulted: { target: 'stopping', actions: noteFault },
  lost: 'stopping',
} as const;

/** Announces the end. The service answers as before until it stops. */
const leave = {
  target: 'leaving',
  actions: {
    type: 'stopLater',
    params: ({ event: { drainMs } }: { event: { readonly drainMs: number } }) => ({ drainMs }),
  },
} as const;

/**
 * The root of a process. It decides how long each child lives, when the process ends, and in which order. The children wait for
 * unavailable servers by themselves. A child that errors is a fault of the program and ends the process in order, as a stop does. Once
 * another process has taken over the ingest, nothing is drained, because nothing may be written any more.
 *
 * @typeParam Work followers, indexer and their readers. The machine only passes it to its actors and actions.
 * @param serves whether the process has a public port. It always has one for operators.
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
    // The servers live as long as the root, unless they are closed before.
    invoke: serves ? [operatorServer, publicServer] : [operatorServer],
    states: {
      /** Tells clients whether to stay or connect elsewhere. */
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
              /** Requests the tables to work on, uses them, and releases them. */
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
                  /** All parts stop at the same time; each has its own grace period. */
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
