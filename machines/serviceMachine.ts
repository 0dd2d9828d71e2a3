import { assign, fromObservable, fromPromise, raise, sendTo, setup } from 'xstate';
import { type BackoffBounds, backoffMs } from './backoff.ts';
import { databaseWatchMachine } from './databaseWatchMachine.ts';
import { generationWatchMachine } from './generationWatchMachine.ts';
import { type Grant, ingestMachine } from './ingestMachine.ts';
import { natsMachine } from './natsMachine.ts';
import { notProvided } from './notProvided.ts';

const backoff: BackoffBounds = { firstMs: 500, longestMs: 1_000 };
/** How long a stop waits for each part to close: one that hangs does not delay it further. */
export const closeGraceMs = 400;
/** How long it waits for a statement that ClickHouse executes. */
export const databaseCloseGraceMs = 1_000;

interface Context<Work> {
  readonly writes: boolean;
  /** Other processes may replace the tables. */
  readonly isDatabaseShared: boolean;
  /** Attempts to reach JetStream that failed, in a row. */
  readonly failures: number;
  readonly grant: Grant | null;
  /** What runs once it is known which tables are used. */
  readonly work: Work | null;
  readonly hasIndexerEnded: boolean;
  /** Why the service ends, if nobody told it to. */
  readonly fault: { readonly error: unknown } | null;
}

/** What is there in every state that asks for it. */
function expectPresent<Part>(part: Part | null): Part {
  if (part === null) throw new Error('a part of the service is used before it is there');
  return part;
}

/**
 * The root of a process: who lives for how long, what ends the process, and in which order it ends. Parts that are unavailable are waited for
 * by the children themselves; a child that errors is a fault of the program, and ends everything in order, as a stop does. Where another process
 * has taken over the ingest, nothing may be written any more, so nothing is drained.
 *
 * @typeParam Work followers, indexer and what reads for them; the machine passes it to those who run it, and looks into none.
 */
export function createServiceMachine<Work>() {
  return setup({
    types: {
      context: {} as Context<Work>,
      input: {} as { readonly writes: boolean; readonly isDatabaseShared: boolean },
      events: {} as
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
      /** Looks at the conditions of the chain's views, and tells of changes. */
      watchConditions: fromObservable<never, undefined>(notProvided),
      openJetStream: fromPromise<void>(notProvided),
      /** Builds what runs on the granted tables. */
      compose: fromPromise<Work, { readonly grant: Grant }>(notProvided),
      /** Follows the streams until they are drained. */
      follow: fromPromise<void, { readonly work: Work }>(notProvided),
      /** Indexes the chain, where this process does, until it is told to end. */
      index: fromPromise<void, { readonly work: Work }>(notProvided),
      /** Takes no more messages, and resolves once what was taken is stored and saved, or its grace is over. */
      drain: fromPromise<void, { readonly work: Work }>(notProvided),
      closeNats: fromPromise<void>(notProvided),
      closeDatabase: fromPromise<void>(notProvided),
    },
    guards: {
      hasFault: ({ context }) => context.fault !== null,
      hasIndexerEnded: ({ context }) => context.hasIndexerEnded,
    },
    actions: {
      noteFault: assign((_, { error }: { error: unknown }) => ({ fault: { error } })),
      reportJetStreamFailure: (_, _params: { error: unknown }): void => notProvided(),
      /** Takes no more requests. */
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
  }).createMachine({
    id: 'service',
    context: ({ input }) => ({
      ...input,
      failures: 0,
      grant: null,
      work: null,
      hasIndexerEnded: false,
      fault: null,
    }),
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
            onError: { actions: raise(({ event }) => ({ type: 'faulted', error: event.error })) },
          },
          {
            id: 'databaseWatch',
            src: 'databaseWatch',
            onError: { actions: raise(({ event }) => ({ type: 'faulted', error: event.error })) },
          },
          {
            src: 'watchConditions',
            onError: { actions: raise(({ event }) => ({ type: 'faulted', error: event.error })) },
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
                actions: [
                  'closePublicServer',
                  { type: 'noteFault', params: ({ event }) => ({ error: event.error }) },
                ],
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
                            params: ({ event }) => ({ error: event.error }),
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
          /** The tables to work on are asked for, granted, and given back. */
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
                    actions: [
                      'closePublicServer',
                      { type: 'noteFault', params: ({ event }) => ({ error: event.error }) },
                    ],
                  },
                  lost: {
                    target: '#service.online.closingNats',
                    actions: [
                      'closePublicServer',
                      { type: 'noteFault', params: ({ event }) => ({ error: event.error }) },
                    ],
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
                      input: ({ context }) => ({ grant: expectPresent(context.grant) }),
                      onDone: {
                        target: '#service.online.claimed.working',
                        actions: assign({ work: ({ event }) => event.output }),
                      },
                      onError: {
                        actions: raise(({ event }) => ({ type: 'faulted', error: event.error })),
                      },
                    },
                  },
                },
              },
              working: {
                invoke: {
                  src: 'index',
                  input: ({ context }) => ({ work: expectPresent(context.work) }),
                  onDone: { actions: assign({ hasIndexerEnded: true }) },
                  onError: {
                    actions: [
                      assign({ hasIndexerEnded: true }),
                      raise(({ event }) => ({ type: 'faulted', error: event.error })),
                    ],
                  },
                },
                on: {
                  lost: {
                    target: '#service.online.closingNats',
                    actions: [
                      'closePublicServer',
                      { type: 'noteFault', params: ({ event }) => ({ error: event.error }) },
                      {
                        type: 'abandonFollowers',
                        params: ({ context }) => ({ work: expectPresent(context.work) }),
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
                        input: ({ context }) => ({ work: expectPresent(context.work) }),
                        onError: {
                          actions: raise(({ event }) => ({ type: 'faulted', error: event.error })),
                        },
                      },
                      {
                        id: 'generationWatch',
                        src: 'generationWatch',
                        input: ({ context }) => ({
                          generation: expectPresent(context.grant).generation,
                          isShared: context.isDatabaseShared,
                        }),
                        onError: {
                          actions: raise(({ event }) => ({ type: 'faulted', error: event.error })),
                        },
                      },
                    ],
                    states: {
                      running: {
                        tags: 'running',
                        exit: {
                          type: 'endIndexer',
                          params: ({ context }) => ({ work: expectPresent(context.work) }),
                        },
                        on: {
                          stop: { target: 'draining', actions: 'closePublicServer' },
                          faulted: {
                            target: 'draining',
                            actions: [
                              'closePublicServer',
                              { type: 'noteFault', params: ({ event }) => ({ error: event.error }) },
                            ],
                          },
                        },
                      },
                      draining: {
                        tags: 'stopping',
                        invoke: {
                          src: 'drain',
                          input: ({ context }) => ({ work: expectPresent(context.work) }),
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
