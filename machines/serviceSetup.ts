import { assign, fromObservable, fromPromise, raise, setup } from 'xstate';
import { type BackoffBounds, backoffDelay } from './backoff.ts';
import { databaseWatchMachine } from './databaseWatchMachine.ts';
import { createGroupMachine, type Members } from './groupMachine.ts';
import { ingestMachine } from './ingestMachine.ts';
import type { Grant } from './ingestSetup.ts';
import { natsMachine } from './natsMachine.ts';
import { notProvided } from './notProvided.ts';
import { serverMachine } from './serverMachine.ts';
import { notifyPublicServer } from './serviceServers.ts';

const backoff: BackoffBounds = { firstMs: 500, longestMs: 1_000 };
/** How long a stop waits for the state to be saved. */
export const saveGraceMs = 5_000;
/** How long a stop waits for each part to close. */
export const closeGraceMs = 400;
/** How long a stop waits for a statement that ClickHouse is executing. */
export const databaseCloseGraceMs = 1_000;

/** Machines that run on the granted tables. */
export interface WorkMachines {
  readonly followers: Members;
  /** Empty in a process that does not index. */
  readonly indexers: Members;
}

export interface ServiceContext<Work> {
  /** Number of servers that are not listening yet. */
  readonly portsToBind: number;
  readonly writes: boolean;
  /** Consecutive failed attempts to reach JetStream. */
  readonly failures: number;
  readonly grant: Grant | null;
  /** Work on the granted tables; null until the grant is known. */
  readonly work: Work | null;
  /** Why the service ends, unless it was told to stop. */
  readonly fault: { readonly error: unknown } | null;
}

/** Context, events, children and work of the service; its states are in `serviceMachine.ts`. */
export function setUpService<Work extends { readonly machines: WorkMachines }>() {
  return setup({
    types: {} as {
      context: ServiceContext<Work>;
      input: { readonly writes: boolean };
      events: /** The process stops after `drainMs`; until then everything continues. */
        | { type: 'leave'; drainMs: number }
        | { type: 'stop' }
        | { type: 'faulted'; error: unknown }
        | { type: 'portBound' }
        | { type: 'natsConnected' }
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
        followers: 'followers';
        indexers: 'indexers';
      };
      /** `leaving` tells clients to connect elsewhere. */
      tags: 'leaving' | 'stopping';
    },
    actors: {
      operatorServer: serverMachine,
      publicServer: serverMachine,
      nats: natsMachine,
      databaseWatch: databaseWatchMachine,
      ingest: ingestMachine,
      /** Reports changes in the conditions of the chain's views. */
      watchConditions: fromObservable<never, undefined>(notProvided),
      openJetStream: fromPromise<void>(notProvided),
      /** Builds the work on the granted tables. */
      compose: fromPromise<Work, { readonly grant: Grant }>(notProvided),
      /** Follow the streams until they are drained. From then on they take no more messages, and store and save the ones already taken. */
      followers: createGroupMachine('followers'),
      /** Index the chain until they are stopped, if this process indexes. */
      indexers: createGroupMachine('indexers'),
      /** Compares samples of stored and shown data with their sources, restores what a replay has made, and drops rows that nobody needs. */
      upkeep: fromObservable<never, { readonly work: Work }>(notProvided),
      closeNats: fromPromise<void>(notProvided),
      closeDatabase: fromPromise<void>(notProvided),
    },
    guards: {
      isLastPort: ({ context }) => context.portsToBind === 1,
      hasFault: ({ context }) => context.fault !== null,
    },
    actions: {
      raisePortBound: raise({ type: 'portBound' }),
      stopLater: raise({ type: 'stop' }, { delay: (_, { drainMs }: { drainMs: number }) => drainMs }),
      raiseFault: raise((_, { error }: { error: unknown }) => ({ type: 'faulted' as const, error })),
      noteFault: assign((_, { error }: { error: unknown }) => ({ fault: { error } })),
      reportJetStreamFailure: (_, _params: { error: unknown }): void => notProvided(),
      /** The server still answers, and tells clients to connect elsewhere. */
      drainPublicServer: ({ self }) => notifyPublicServer(self, { type: 'drain' }),
      /** Accepts no more requests. */
      closePublicServer: ({ self }) => notifyPublicServer(self, { type: 'close' }),
    },
    delays: {
      backoff: backoffDelay(backoff),
      closeGrace: closeGraceMs,
      databaseCloseGrace: databaseCloseGraceMs,
    },
  });
}

/** Type for states of the service that are in another file. */
export type ServiceSetup<Work extends { readonly machines: WorkMachines }> = ReturnType<
  typeof setUpService<Work>
>;
