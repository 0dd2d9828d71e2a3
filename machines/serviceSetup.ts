import { assign, fromObservable, fromPromise, raise, setup } from 'xstate';
import { type BackoffBounds, backoffDelay } from './backoff.ts';
import { databaseWatchMachine } from './databaseWatchMachine.ts';
import { generationWatchMachine } from './generationWatchMachine.ts';
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
/** How long a stop waits for each part to close: one that hangs does not delay it further. */
export const closeGraceMs = 400;
/** How long it waits for a statement that ClickHouse is executing. */
export const databaseCloseGraceMs = 1_000;

/** What runs on the granted tables. */
export interface WorkMachines {
  readonly followers: Members;
  /** None in a process that does not index. */
  readonly indexers: Members;
}

export interface ServiceContext<Work> {
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
  /** Why the service ends, unless it was asked to stop. */
  readonly fault: { readonly error: unknown } | null;
}

/** What the machine of the service consists of: its children, and what is provided to it. `serviceMachine.ts` says what follows what. */
export function setUpService<Work extends { readonly machines: WorkMachines }>() {
  return setup({
    types: {} as {
      context: ServiceContext<Work>;
      input: { readonly writes: boolean; readonly isDatabaseShared: boolean };
      events: /** The process stops after `drainMs`; until then everything continues. */
        | { type: 'leave'; drainMs: number }
        | { type: 'stop' }
        | { type: 'faulted'; error: unknown }
        | { type: 'portBound' }
        | { type: 'natsConnected' }
        | { type: 'granted'; grant: Grant | null }
        | { type: 'released' }
        /** The ingest has ended by itself. */
        | { type: 'lost'; error: unknown };
      children: {
        operatorServer: 'operatorServer';
        publicServer: 'publicServer';
        nats: 'nats';
        databaseWatch: 'databaseWatch';
        generationWatch: 'generationWatch';
        ingest: 'ingest';
        followers: 'followers';
        indexers: 'indexers';
      };
      /** Leaving: whoever sends it requests is to send them elsewhere. */
      tags: 'leaving' | 'stopping';
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
    },
    actions: {
      raisePortBound: raise({ type: 'portBound' }),
      stopLater: raise({ type: 'stop' }, { delay: (_, { drainMs }: { drainMs: number }) => drainMs }),
      raiseFault: raise((_, { error }: { error: unknown }) => ({ type: 'faulted' as const, error })),
      noteFault: assign((_, { error }: { error: unknown }) => ({ fault: { error } })),
      reportJetStreamFailure: (_, _params: { error: unknown }): void => notProvided(),
      /** Answers continue, and tell clients to connect elsewhere. */
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

/** For states of the service that are in another file. */
export type ServiceSetup<Work extends { readonly machines: WorkMachines }> = ReturnType<
  typeof setUpService<Work>
>;
