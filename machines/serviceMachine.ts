import { assign, raise, sendTo } from 'xstate';
import { passError } from './failureParams.ts';
import { requireValue } from './requireValue.ts';
import { operatorServer, publicServer, raiseFault } from './serviceServers.ts';
import {
  closeGraceMs,
  type ServiceContext,
  saveGraceMs,
  setUpService,
  type WorkMachines,
} from './serviceSetup.ts';

/** A fault ends the service as a stop does, and is reported at the end. */
const endWithFault = ['closePublicServer', { type: 'noteFault', params: passError }] as const;

/** A stop and a fault end the service in the same order, which begins with `target`. */
function endInOrder<const Target extends string>(target: Target) {
  return {
    stop: { target, actions: 'closePublicServer' },
    faulted: { target, actions: endWithFault },
  } as const;
}

/** Another process ingests: nothing may be written any more. */
const abandon = {
  lost: { target: '#service.online.closingNats', actions: endWithFault },
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
  const drainFollowers = service.enqueueActions(({ context, enqueue }) => {
    if (!context.haveFollowersEnded) enqueue.sendTo('followers', { type: 'stopped', graceMs: saveGraceMs });
  });
  const endIndexers = service.enqueueActions(({ context, enqueue }) => {
    if (!context.hasIndexerEnded) enqueue.sendTo('indexers', { type: 'stopped', graceMs: closeGraceMs });
  });
  const withWork = ({ context }: { context: ServiceContext<Work> }) => ({
    work: requireValue(context.work, 'the work of the service'),
  });

  return service.createMachine({
    id: 'service',
    context: ({ input }) => ({
      ...input,
      portsToBind: serves ? 2 : 1,
      failures: 0,
      grant: null,
      work: null,
      haveFollowersEnded: false,
      hasIndexerEnded: false,
      isLeaving: false,
      fault: null,
    }),
    on: {
      leave: {
        actions: [
          assign({ isLeaving: true }),
          'drainPublicServer',
          raise({ type: 'stop' }, { delay: ({ event }) => event.drainMs }),
        ],
      },
    },
    // They live as long as the root, unless they are closed before.
    invoke: serves ? [operatorServer, publicServer] : [operatorServer],
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
          {
            id: 'databaseWatch',
            src: 'databaseWatch',
            onError: raiseFault,
          },
          {
            src: 'watchConditions',
            onError: raiseFault,
          },
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
                      onDone: '#service.online.claimed',
                      onError: {
                        target: 'waiting',
                        actions: [
                          assign({ failures: ({ context }) => context.failures + 1 }),
                          {
                            type: 'reportJetStreamFailure',
                            params: passError,
                          },
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
                        target: '#service.online.claimed.working',
                        actions: assign({ work: ({ event }) => event.output }),
                      },
                      onError: raiseFault,
                    },
                  },
                },
              },
              working: {
                invoke: {
                  id: 'indexers',
                  src: 'indexers',
                  input: ({ context }) => ({
                    members: requireValue(context.work, 'the work of the service').machines.indexers,
                  }),
                  onSnapshot: {
                    guard: ({ event }) => event.snapshot.hasTag('faulted'),
                    actions: raise(({ event }) => ({
                      type: 'faulted',
                      error: event.snapshot.context.fault?.error,
                    })),
                  },
                  onDone: { actions: assign({ hasIndexerEnded: true }) },
                  onError: {
                    actions: [assign({ hasIndexerEnded: true }), raiseFault.actions],
                  },
                },
                on: abandon,
                initial: 'following',
                states: {
                  following: {
                    initial: 'running',
                    invoke: [
                      {
                        id: 'followers',
                        src: 'followers',
                        input: ({ context }) => ({
                          members: requireValue(context.work, 'the work of the service').machines.followers,
                        }),
                        onSnapshot: {
                          guard: ({ event }) => event.snapshot.hasTag('faulted'),
                          actions: raise(({ event }) => ({
                            type: 'faulted',
                            error: event.snapshot.context.fault?.error,
                          })),
                        },
                        onDone: { actions: assign({ haveFollowersEnded: true }) },
                        onError: {
                          actions: [assign({ haveFollowersEnded: true }), raiseFault.actions],
                        },
                      },
                      {
                        id: 'generationWatch',
                        src: 'generationWatch',
                        input: ({ context }) => ({
                          generation: requireValue(context.grant, 'the grant').generation,
                          isShared: context.isDatabaseShared,
                        }),
                        onError: raiseFault,
                      },
                    ],
                    states: {
                      running: {
                        invoke: {
                          src: 'audit',
                          input: withWork,
                          onError: raiseFault,
                        },
                        exit: endIndexers,
                        on: endInOrder('draining'),
                      },
                      draining: {
                        tags: 'stopping',
                        entry: drainFollowers,
                        always: {
                          guard: 'haveFollowersEnded',
                          target: '#service.online.claimed.working.endingIndexer',
                        },
                      },
                    },
                  },
                  endingIndexer: {
                    tags: 'stopping',
                    always: { guard: 'hasIndexerEnded', target: '#service.online.claimed.releasing' },
                    after: { closeGrace: '#service.online.claimed.releasing' },
                  },
                },
              },
              releasing: {
                tags: 'stopping',
                entry: sendTo('ingest', { type: 'release' }),
                on: {
                  released: '#service.online.closingNats',
                  lost: '#service.online.closingNats',
                },
                after: { closeGrace: '#service.online.closingNats' },
              },
            },
          },
          closingNats: {
            tags: 'stopping',
            invoke: {
              src: 'closeNats',
              onDone: '#service.closingDatabase',
              onError: '#service.closingDatabase',
            },
            after: { closeGrace: '#service.closingDatabase' },
          },
        },
      },
      closingDatabase: {
        tags: 'stopping',
        invoke: { src: 'closeDatabase', onDone: 'ended', onError: 'ended' },
        after: { databaseCloseGrace: 'ended' },
      },
      /** The operators' port closes with the root. */
      ended: {
        always: [{ guard: 'hasFault', target: 'failed' }, { target: 'stopped' }],
      },
      stopped: { type: 'final' },
      failed: { type: 'final' },
    },
  });
}

export type ServiceMachine<Work extends { readonly machines: WorkMachines }> = ReturnType<
  typeof createServiceMachine<Work>
>;
