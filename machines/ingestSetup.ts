import { assign, fromPromise, raise, setup } from 'xstate';
import { type BackoffBounds, backoffDelay } from './backoff.ts';
import { hasKind } from './failures.ts';
import { leaseMachine } from './leaseMachine.ts';
import { notProvided } from './notProvided.ts';

const backoff: BackoffBounds = { firstMs: 500, longestMs: 1_000 };
/** How often to check whether another process has begun an epoch. */
const epochCheckMs = 5_000;

export interface Grant {
  /** Epoch in which the process writes; null if it only reads. */
  readonly epoch: number | null;
}

interface Context {
  /** Whether this process ingests; otherwise it only reads. */
  readonly writes: boolean;
  readonly name: string;
  readonly isUnused: boolean;
  /** Consecutive failures of the steps before the grant. */
  readonly failures: number;
  readonly epoch: number;
  readonly grant: Grant | null;
  readonly fault: unknown;
}

/** Context, events and work of the ingest; its states are in `ingestMachine.ts`. */
export const ingest = setup({
  types: {} as {
    context: Context;
    input: { readonly writes: boolean };
    events:
      | { type: 'release' }
      /** Another process has begun a later epoch. */
      | { type: 'superseded'; error: unknown }
      | { type: 'leaseHeld' }
      /** The lease ended without a request. */
      | { type: 'leaseLost'; error: unknown }
      /** The lease was released on request. */
      | { type: 'leaseReleased' }
      | { type: 'preparationFailed'; error: unknown };
    children: { lease: 'lease' };
    output: { readonly fault: unknown };
    tags: 'granted';
  },
  actors: {
    lease: leaseMachine,
    /** Checks that what is stored can be read. */
    checkStored: fromPromise<void>(notProvided),
    /** Name of the lease, and whether no process has ever ingested into the database. */
    identify: fromPromise<{ readonly name: string; readonly isUnused: boolean }>(notProvided),
    ensureStreams: fromPromise<void>(notProvided),
    migrate: fromPromise<void>(notProvided),
    beginEpoch: fromPromise<number>(notProvided),
    /** Leaves out what lost streams have made, and sets for how long rows are kept. */
    prepareRows: fromPromise<void, { readonly epoch: number }>(notProvided),
    /** Checks whether a later epoch has begun, and sends `superseded` if so. */
    checkEpoch: fromPromise<void, { readonly epoch: number }>(notProvided),
  },
  guards: {
    writes: ({ context }) => context.writes,
    isUnusable: hasKind('unusable'),
  },
  actions: {
    noteFailure: assign({ failures: ({ context }) => context.failures + 1 }),
    noteFault: assign((_, { error }: { error: unknown }) => ({ fault: error })),
    failPreparation: raise((_, { error }: { error: unknown }) => ({ type: 'preparationFailed', error })),
    reportFailure: (_, _params: { error: unknown }): void => notProvided(),
    reportGrant: (): void => notProvided(),
  },
  delays: {
    backoff: backoffDelay(backoff),
    epochCheck: epochCheckMs,
  },
});
