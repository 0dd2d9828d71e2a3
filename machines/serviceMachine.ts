import {
  type AnyActorRef,
  assign,
  type DoneActorEvent,
  type EventFromLogic,
  fromObservable,
  fromPromise,
  type OutputFrom,
  raise,
  type SnapshotEvent,
  type SnapshotFrom,
  sendTo,
  setup,
} from 'xstate';
import { type BackoffBounds, backoffDelay } from './backoff.ts';
import { databaseWatchMachine } from './databaseWatchMachine.ts';
import { passError } from './failureParams.ts';
import { generationWatchMachine } from './generationWatchMachine.ts';
import { createGroupMachine, type Members } from './groupMachine.ts';
import { type Grant, ingestMachine } from './ingestMachine.ts';
import { natsMachine } from './natsMachine.ts';
import { notProvided } from './notProvided.ts';
import { requireValue } from './requireValue.ts';
import { serverMachine } from './serverMachine.ts';

const backoff: BackoffBounds = { firstMs: 500, longestMs: 1_000 };
/** How long a stop waits for the state to be saved. */
export const saveGraceMs = 5_000;
/** How long a stop waits for each part to close: one that hangs does not delay it further. */
export const closeGraceMs = 400;
/** How long it waits for a statement that ClickHouse is executing. */
export const databaseCloseGraceMs = 1_000;

/** What runs on the granted tables. */
export interface WorkMachines {
  /** One for each stream. */
  readonly followers: Members;
  /** None in a process that does not index. */
  readonly indexers: Members;
}

interface Context<Work> {
  /** Of the servers that are not listening yet. */
  readonly portsToBind: number;
  readonly writes: boolean;
  /** Other processes may replace the tables. */
  readonly isDatabaseShared: boolean;
  /** Consecutive failed attempts to reach JetStream. */
  readonly failures: number;
  readonly grant: Grant | null;
  /** What runs on the granted tables; null until the grant is known. */
  readonly work: Work | null;
  readonly haveFollowersEnded: boolean;
  readonly hasIndexerEnded: boolean;
  /** The process is about to end: whoever sends it requests is to send them elsewhere. */
  readonly isLeaving: boolean;
  /** Why the service ends, unless it was asked to stop. */
  readonly fault: { readonly error: unknown } | null;
}

/** A child that fails is a fault of the program, whatever the service is doing. */
const raiseFault = { actions: { type: 'raiseFault', params: passError } } as const;

type ServerEnd = DoneActorEvent<OutputFrom<typeof serverMachine>>;
const isListening = ({ event }: { event: SnapshotEvent<SnapshotFrom<typeof serverMachine>> }) =>
  event.snapshot.hasTag('listening');
const hasFailed = ({ event }: { event: ServerEnd }) => event.output.fault !== null;
const reportPort = {
  onSnapshot: { guard: isListening, actions: 'raisePortBound' },
  onDone: {
    guard: hasFailed,
    actions: {
      type: 'raiseFault',
      params: ({ event }: { event: ServerEnd }) => ({ error: event.output.fault?.error }),
    },
  },
  onError: raiseFault,
} as const;
const operatorServer = {
  id: 'operatorServer',
  src: 'operatorServer',
  input: { label: 'operator' },
  ...reportPort,
} as const;
const publicServer = {
  id: 'publicServer',
  src: 'publicServer',
  input: { label: 'public' },
  ...reportPort,
} as const;

/** A process that does not serve has none, and it may have closed before. */
function tellPublicServer(
  service: { getSnapshot(): { readonly children: Readonly<Record<string, AnyActorRef | undefined>> } },
  event: EventFromLogic<typeof serverMachine>,
): void {
  const server = service.getSnapshot().children[publicServer.id];
  if (server?.getSnapshot().status === 'active') server.send(event);
}

/** A fault ends the service as a stop does, and is reported at the end. */
const endWithFault = ['closePublicServer', { type: 'noteFault', params: passError }] as const;

/**
 * The root of a process: how long each child lives, what ends the process, and in which order it ends. The children themselves wait for
 * what is unavailable; a child that errors is a fault of the program and ends everything in order, as a stop does. Once another process
 * has taken over the ingest, nothing may be written any more, so nothing is drained.
 *
 * @typeParam Work followers, indexer and what reads for them; the machine only passes it to its actors and actions.
 * @param serves whether there is a public port; there is always one for operators.
 */
export function createServiceMachine<Work extends { readonly machines: WorkMachines }>(serves: boolean) {
  const service = setup({
    types: {
      context: {} as Context<Work>,
      input: {} as { readonly writes: boolean; readonly isDatabaseShared: boolean },
      events: {} as
        /** The process stops after `drainMs`; until then everything continues. */
          | { type: 'leave'; drainMs: number }
          | { type: 'stop' }
          | { type: 'faulted'; error: unknown }
          | { type: 'portBound' }
          | { type: 'natsConnected' }
          | { type: 'granted'; grant: Grant | null }
          | { type: 'released' }
          /** The ingest has ended by itself. */
          | { type: 'lost'; error: unknown },
      children: {} as {
        operatorServer: 'operatorServer';
        publicServer: 'publicServer';
        nats: 'nats';
        databaseWatch: 'databaseWatch';
        generationWatch: 'generationWatch';
        ingest: 'ingest';
        followers: 'followers';
        indexers: 'indexers';
      },
      tags: {} as 'stopping',
    },
    actors: {
      operatorServer: serverMachine,
      publicServer: serverMachine,
      nats: natsMachine,
      databaseWatch: databaseWatchMachine,
      generationWatch: generationWatchMachine,
      ingest: ingestMachine,
      /** Reports changes in the conditions of the chain's views. */
      watchConditions: fromObservable<never, undefined>(notProvided),
      openJetStream: fromPromise<void>(notProvided),
      /** Builds what runs on the granted tables. */
      compose: fromPromise<Work, { readonly grant: Grant }>(notProvided),
      /** Follow the streams until they are drained: they take no more messages then, and store and save those taken. */
      followers: createGroupMachine('followers'),
      /** Index the chain, if this process does, until they are asked to end. */
      indexers: createGroupMachine('indexers'),
      /** Compares samples of what is stored and shown with what they were made from. */
      audit: fromObservable<never, { readonly work: Work }>(notProvided),
      closeNats: fromPromise<void>(notProvided),
      closeDatabase: fromPromise<void>(notProvided),
    },
    guards: {
      isLastPort: ({ context }) => context.portsToBind === 1,
      hasFault: ({ context }) => context.fault !== null,
      haveFollowersEnded: ({ context }) => context.haveFollowersEnded,
      hasIndexerEnded: ({ context }) => context.hasIndexerEnded,
    },
    actions: {
      raisePortBound: raise({ type: 'portBound' }),
      raiseFault: raise((_, { error }: { error: unknown }) => ({ type: 'faulted' as const, error })),
      noteFault: assign((_, { error }: { error: unknown }) => ({ fault: { error } })),
      reportJetStreamFailure: (_, _params: { error: unknown }): void => notProvided(),
      /** Answers continue, and tell clients to connect elsewhere. */
      drainPublicServer: ({ self }) => tellPublicServer(self, { type: 'drain' }),
      /** Accepts no more requests. */
      closePublicServer: ({ self }) => tellPublicServer(self, { type: 'close' }),
    },
    delays: {
      backoff: backoffDelay(backoff),
      closeGrace: closeGraceMs,
      databaseCloseGrace: databaseCloseGraceMs,
    },
  });

  const drainFollowers = service.enqueueActions(({ context, enqueue }) => {
    if (!context.haveFollowersEnded) enqueue.sendTo('followers', { type: 'stopped', graceMs: saveGraceMs });
  });
  const endIndexers = service.enqueueActions(({ context, enqueue }) => {
    if (!context.hasIndexerEnded) enqueue.sendTo('indexers', { type: 'stopped', graceMs: closeGraceMs });
  });
  const withWork = ({ context }: { context: Context<Work> }) => ({
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
          stop: { target: 'closingDatabase', actions: 'closePublicServer' },
          faulted: { target: 'closingDatabase', actions: endWithFault },
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
            on: {
              stop: { target: 'closingNats', actions: 'closePublicServer' },
              faulted: {
                target: 'closingNats',
                actions: endWithFault,
              },
            },
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
                on: {
                  stop: { target: 'releasing', actions: 'closePublicServer' },
                  faulted: {
                    target: 'releasing',
                    actions: endWithFault,
                  },
                  lost: {
                    target: '#service.online.closingNats',
                    actions: endWithFault,
                  },
                },
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
                on: {
                  lost: {
                    target: '#service.online.closingNats',
                    actions: endWithFault,
                  },
                },
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
                        on: {
                          stop: { target: 'draining', actions: 'closePublicServer' },
                          faulted: {
                            target: 'draining',
                            actions: endWithFault,
                          },
                        },
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
