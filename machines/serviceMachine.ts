import {
  type AnyStateMachine,
  assign,
  fromCallback,
  fromEventObservable,
  fromObservable,
  fromPromise,
  raise,
  sendTo,
  setup,
} from 'xstate';
import { passError } from './failures.ts';
import { type Grant, ingestMachine } from './ingestMachine.ts';
import { notProvided } from './notProvided.ts';
import { requireValue } from './requireValue.ts';

/** How long a stop waits for the state to be saved. */
export const saveGraceMs = 5_000;
/** How long a stop waits for each part to close. */
export const closeGraceMs = 400;
/** How long a stop waits for a statement that the database is executing. */
const databaseCloseGraceMs = 1_000;

/** Whether the database answers, and whether it answers or has answered within the grace. */
export interface DatabaseReach {
  readonly isReachable: boolean;
  readonly isWithinGrace: boolean;
}

/** Whether NATS is connected, whenever that changes. */
export type NatsEvent = { type: 'natsChanged'; isConnected: boolean };

/** A machine that ends by itself, or within the time that the event `stopped` gives it. */
export interface Member {
  readonly logic: AnyStateMachine;
  readonly input: unknown;
}

/** Members by name, which is also the ID of the actor, each with the time that it has to end. */
export type Members = ReadonlyMap<string, Member & { readonly graceMs: number }>;

/** Report of the members that run together. If one fails, the others continue until they are stopped, so that they can store their state. */
type GroupEvent = { type: 'faulted'; error: unknown } | { type: 'membersEnded' };

export type ServerName = 'operator' | 'public';
/** Report of a server. It listens until it is cancelled. After `leave`, each of its answers closes the connection. */
export type ServerEvent =
  | { type: 'bound'; server: ServerName; port: number }
  | { type: 'faulted'; error: unknown };
const server = fromCallback<{ type: 'leave' }, ServerName>(notProvided);

interface Context<Work> {
  readonly writes: boolean;
  readonly isNatsConnected: boolean;
  /** Bound ports of the servers. */
  readonly ports: { readonly [Name in ServerName]?: number };
  readonly grant: Grant | null;
  /** Work on the granted tables; null until the grant is known. */
  readonly work: Work | null;
  /** Why the service ends, unless it was told to stop. */
  readonly fault: { readonly error: unknown } | null;
}

function setUpService<Work extends { readonly members: Members }>() {
  return setup({
    types: {} as {
      context: Context<Work>;
      input: { readonly writes: boolean };
      events: /** The process stops after `drainMs`; until then everything continues. */
        | { type: 'leave'; drainMs: number }
        | { type: 'stop' }
        | ServerEvent
        | NatsEvent
        | GroupEvent
        | { type: 'granted'; grant: Grant | null }
        | { type: 'released' }
        /** The ingest ended without a request. */
        | { type: 'lost'; error: unknown };
      children: {
        operatorServer: 'operatorServer';
        publicServer: 'publicServer';
        nats: 'nats';
        databaseWatch: 'databaseWatch';
        ingest: 'ingest';
        group: 'group';
      };
      /** `leaving` tells clients to connect elsewhere. */
      tags: 'leaving' | 'stopping';
    },
    actors: {
      operatorServer: server,
      publicServer: server,
      /** Connects to NATS with JetStream, for as long as that takes, and reconnects for ever. */
      nats: fromEventObservable<NatsEvent, undefined>(notProvided),
      databaseWatch: fromObservable<DatabaseReach, undefined>(notProvided),
      ingest: ingestMachine,
      /** Reports changes in the conditions of the chain's views. */
      watchConditions: fromObservable<never, undefined>(notProvided),
      /** Builds the work on the granted tables. */
      compose: fromPromise<Work, { readonly grant: Grant }>(notProvided),
      /** Runs followers, and the indexer if this process indexes, until all of them have ended. */
      group: fromCallback<{ type: 'stop' }, Members>(notProvided),
      /** Compares samples of stored and shown data with their sources, restores what a replay has made, and drops rows that nobody needs. */
      upkeep: fromObservable<never, { readonly work: Work }>(notProvided),
      closeNats: fromPromise<void>(notProvided),
      closeDatabase: fromPromise<void>(notProvided),
    },
    guards: { hasFault: ({ context }) => context.fault !== null },
    actions: {
      stopLater: raise({ type: 'stop' }, { delay: (_, { drainMs }: { drainMs: number }) => drainMs }),
      raiseFault: raise((_, { error }: { error: unknown }) => ({ type: 'faulted' as const, error })),
      /** The first fault is reported: later ones often follow from it. */
      noteFault: assign(({ context }, { error }: { error: unknown }) => ({
        fault: context.fault ?? { error },
      })),
    },
    delays: {
      closeGrace: closeGraceMs,
      databaseCloseGrace: databaseCloseGraceMs,
    },
  });
}

/** In any state, a failed child is a fault of the program. */
const raiseFault = { actions: { type: 'raiseFault', params: passError } } as const;

/** Keeps a fault, which is reported at the end. */
const noteFault = { type: 'noteFault', params: passError } as const;

/** Transitions to the first step of an orderly end, after a stop or a fault. */
function endInOrder<const Target extends string>(target: Target) {
  return { stop: target, faulted: target } as const;
}

/** Another process ingests, so this one may not write any more, not even while it stops. */
const abandon = { lost: { target: '#closingNats', actions: noteFault } } as const;

/** Announces the end. The service answers as before until it stops. */
const leave = {
  target: 'leaving',
  actions: {
    type: 'stopLater',
    params: ({ event: { drainMs } }: { event: { readonly drainMs: number } }) => ({ drainMs }),
  },
} as const;

function requireWork<Work>({ context }: { readonly context: Context<Work> }): Work {
  return requireValue(context.work, 'the work of the service');
}

type ServiceSetup<Work extends { readonly members: Members }> = ReturnType<typeof setUpService<Work>>;

/** Tells clients whether to stay or connect elsewhere. */
function configureDeparture<Work extends { readonly members: Members }>(
  service: ServiceSetup<Work>,
  serves: boolean,
) {
  return service.createStateConfig({
    initial: 'open',
    states: {
      open: {
        invoke: serves
          ? { id: 'publicServer', src: 'publicServer', input: 'public', onError: raiseFault }
          : [],
        on: {
          stop: 'stopping',
          faulted: { target: 'stopping', actions: noteFault },
          lost: 'stopping',
        },
        initial: 'staying',
        states: {
          staying: { on: { leave } },
          leaving: {
            tags: 'leaving',
            entry: serves ? sendTo('publicServer', { type: 'leave' }) : [],
            on: { leave },
          },
        },
      },
      /** Open connections are answered until the process ends. */
      stopping: { type: 'final', tags: ['leaving', 'stopping'] },
    },
  });
}

/** Requests the tables to work on, uses them, and releases them. */
function configureClaimed<Work extends { readonly members: Members }>(service: ServiceSetup<Work>) {
  return service.createStateConfig({
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
      /** Messages already taken are stored and saved before it ends, and a publication in progress is finished. */
      working: {
        id: 'working',
        invoke: {
          id: 'group',
          src: 'group',
          input: ({ context }) => requireWork({ context }).members,
          onError: { target: 'releasing', ...raiseFault },
        },
        on: { membersEnded: 'releasing', ...abandon },
        initial: 'running',
        states: {
          running: {
            invoke: {
              src: 'upkeep',
              input: ({ context }) => ({ work: requireWork({ context }) }),
              onError: raiseFault,
            },
            on: endInOrder('stopping'),
          },
          stopping: { entry: sendTo('group', { type: 'stop' }) },
        },
      },
      releasing: {
        entry: sendTo('ingest', { type: 'release' }),
        on: { released: '#closingNats', lost: '#closingNats' },
        after: { closeGrace: '#closingNats' },
      },
    },
  });
}

/**
 * The root of a process. It decides how long each child lives, when the process ends, and in which order. The children wait for
 * unavailable servers by themselves. A child that errors is a fault of the program and ends the process in order, as a stop does. Once
 * another process has taken over the ingest, nothing is drained, because nothing may be written any more.
 *
 * @typeParam Work followers, indexer and their readers. The machine only passes it to its actors and actions.
 * @param serves whether the process has a public port. It always has one for operators.
 */
export function createServiceMachine<Work extends { readonly members: Members }>(serves: boolean) {
  const service = setUpService<Work>();
  return service.createMachine({
    id: 'service',
    type: 'parallel',
    context: ({ input }) => ({
      ...input,
      isNatsConnected: false,
      ports: {},
      grant: null,
      work: null,
      fault: null,
    }),
    invoke: { id: 'operatorServer', src: 'operatorServer', input: 'operator', onError: raiseFault },
    states: {
      departure: configureDeparture(service, serves),
      course: {
        initial: 'opening',
        states: {
          opening: {
            on: {
              bound: {
                actions: assign({
                  ports: ({ context, event }) => ({ ...context.ports, [event.server]: event.port }),
                }),
              },
              ...endInOrder('closingDatabase'),
            },
            always: {
              guard: function isListening({ context: { ports } }) {
                return ports.operator !== undefined && (!serves || ports.public !== undefined);
              },
              target: 'online',
            },
          },
          online: {
            invoke: [
              { id: 'nats', src: 'nats', onError: raiseFault },
              { id: 'databaseWatch', src: 'databaseWatch', onError: raiseFault },
              { src: 'watchConditions', onError: raiseFault },
            ],
            on: {
              natsChanged: { actions: assign({ isNatsConnected: ({ event }) => event.isConnected }) },
            },
            initial: 'connecting',
            states: {
              connecting: {
                on: endInOrder('closingNats'),
                always: {
                  guard: function isConnected({ context: { isNatsConnected } }) {
                    return isNatsConnected;
                  },
                  target: 'claimed',
                },
              },
              claimed: configureClaimed(service),
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

export type ServiceMachine<Work extends { readonly members: Members }> = ReturnType<
  typeof createServiceMachine<Work>
>;
