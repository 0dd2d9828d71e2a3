import { assign, fromObservable, fromPromise, raise, sendTo, setup } from 'xstate';
import { type BackoffBounds, backoffMs } from './backoff.ts';
import { databaseWatchMachine } from './databaseWatchMachine.ts';
import { passError } from './failureParams.ts';
import { generationWatchMachine } from './generationWatchMachine.ts';
import { type Grant, ingestMachine } from './ingestMachine.ts';
import { natsMachine } from './natsMachine.ts';
import { notProvided } from './notProvided.ts';
import { requireValue } from './requireValue.ts';

const backoff: BackoffBounds = { firstMs: 500, longestMs: 1_000 };
/** How long a stop waits for each part to close: one that hangs does not delay it further. */
export const closeGraceMs = 400;
/** How long it waits for a statement that ClickHouse is executing. */
export const databaseCloseGraceMs = 1_000;

interface Context<Work> {
  readonly writes: boolean;
  /** Other processes may replace the tables. */
  readonly isDatabaseShared: boolean;
  /** Consecutive failed attempts to reach JetStream. */
  readonly failures: number;
  readonly grant: Grant | null;
  /** What runs on the granted tables; null until the grant is known. */
  readonly work: Work | null;
  readonly hasIndexerEnded: boolean;
  /** The process is about to end: whoever sends it requests is to send them elsewhere. */
  readonly isLeaving: boolean;
  /** Why the service ends, unless it was asked to stop. */
  readonly fault: { readonly error: unknown } | null;
}

/** A child that fails is a fault of the program, whatever the service is doing. */
const raiseFault = { actions: { type: 'raiseFault', params: passError } } as const;

/** A fault ends the service as a stop does, and is reported at the end. */
const endWithFault = ['closePublicServer', { type: 'noteFault', params: passError }] as const;

/**
 * The root of a process: how long each child lives, what ends the process, and in which order it ends. The children themselves wait for
 * what is unavailable; a child that errors is a fault of the program and ends everything in order, as a stop does. Once another process
 * has taken over the ingest, nothing may be written any more, so nothing is drained.
 *
 * @typeParam Work followers, indexer and what reads for them; the machine only passes it to its actors and actions.
 */
export function createServiceMachine<Work>() {
  const service = setup({
    types: {
      context: {} as Context<Work>,
      input: {} as { readonly writes: boolean; readonly isDatabaseShared: boolean },
      events: {} as
        /** A stop follows; until then everything continues. */
          | { type: 'leave' }
          | { type: 'stop' }
          | { type: 'faulted'; error: unknown }
          | { type: 'natsConnected' }
          | { type: 'granted'; grant: Grant | null }
          | { type: 'released' }
          /** The ingest has ended by itself. */
          | { type: 'lost'; error: unknown },
      children: {} as {
        nats: 'nats';
        databaseWatch: 'databaseWatch';
        generationWatch: 'generationWatch';
        ingest: 'ingest';
      },
      tags: {} as 'starting' | 'running' | 'stopping',
    },
    actors: {
      nats: natsMachine,
      databaseWatch: databaseWatchMachine,
      generationWatch: generationWatchMachine,
      ingest: ingestMachine,
      /** Reports changes in the conditions of the chain's views. */
      watchConditions: fromObservable<never, undefined>(notProvided),
      openJetStream: fromPromise<void>(notProvided),
      /** Builds what runs on the granted tables. */
      compose: fromPromise<Work, { readonly grant: Grant }>(notProvided),
      /** Follows the streams until they are drained. */
      follow: fromPromise<void, { readonly work: Work }>(notProvided),
      /** Indexes the chain, if this process does, until it is asked to end. */
      index: fromPromise<void, { readonly work: Work }>(notProvided),
      /** Compares samples of what is stored and shown with what they were made from. */
      audit: fromObservable<never, { readonly work: Work }>(notProvided),
      /** Takes no more messages, and resolves once those taken are stored and saved, or the grace period is over. */
      drain: fromPromise<void, { readonly work: Work }>(notProvided),
      closeNats: fromPromise<void>(notProvided),
      closeDatabase: fromPromise<void>(notProvided),
    },
    guards: {
      hasFault: ({ context }) => context.fault !== null,
      hasIndexerEnded: ({ context }) => context.hasIndexerEnded,
    },
    actions: {
      raiseFault: raise((_, { error }: { error: unknown }) => ({ type: 'faulted' as const, error })),
      noteFault: assign((_, { error }: { error: unknown }) => ({ fault: { error } })),
      reportJetStreamFailure: (_, _params: { error: unknown }): void => notProvided(),
      /** Accepts no more requests. */
      closePublicServer: (): void => notProvided(),
      closeOperatorServer: (): void => notProvided(),
      endIndexer: (_, _params: { work: Work }): void => notProvided(),
      /** Ends the followers where they are. */
      abandonFollowers: (_, _params: { work: Work }): void => notProvided(),
    },
    delays: {
      backoff: ({ context }) => backoffMs(context.failures, Math.random(), backoff),
      closeGrace: closeGraceMs,
      databaseCloseGrace: databaseCloseGraceMs,
    },
  });

  const withWork = ({ context }: { context: Context<Work> }) => ({
    work: requireValue(context.work, 'the work of the service'),
  });

  return service.createMachine({
    id: 'service',
    context: ({ input }) => ({
      ...input,
      failures: 0,
      grant: null,
      work: null,
      hasIndexerEnded: false,
      isLeaving: false,
      fault: null,
    }),
    on: { leave: { actions: assign({ isLeaving: true }) } },
    initial: 'online',
    states: {
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
            tags: 'starting',
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
                tags: 'starting',
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
                  src: 'index',
                  input: withWork,
                  onDone: { actions: assign({ hasIndexerEnded: true }) },
                  onError: {
                    actions: [assign({ hasIndexerEnded: true }), raiseFault.actions],
                  },
                },
                on: {
                  lost: {
                    target: '#service.online.closingNats',
                    actions: [
                      ...endWithFault,
                      {
                        type: 'abandonFollowers',
                        params: withWork,
                      },
                    ],
                  },
                },
                initial: 'following',
                states: {
                  following: {
                    initial: 'running',
                    invoke: [
                      {
                        src: 'follow',
                        input: withWork,
                        onError: raiseFault,
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
                        tags: 'running',
                        invoke: {
                          src: 'audit',
                          input: withWork,
                          onError: raiseFault,
                        },
                        exit: {
                          type: 'endIndexer',
                          params: withWork,
                        },
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
                        invoke: {
                          src: 'drain',
                          input: withWork,
                          onDone: '#service.online.claimed.working.endingIndexer',
                          onError: '#service.online.claimed.working.endingIndexer',
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
      ended: {
        entry: 'closeOperatorServer',
        always: [{ guard: 'hasFault', target: 'failed' }, { target: 'stopped' }],
      },
      stopped: { type: 'final' },
      failed: { type: 'final' },
    },
  });
}

export type ServiceMachine<Work> = ReturnType<typeof createServiceMachine<Work>>;
