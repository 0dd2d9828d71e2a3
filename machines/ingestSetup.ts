import { assign, fromPromise, raise, setup } from 'xstate';
import { type BackoffBounds, backoffDelay } from './backoff.ts';
import { leaseMachine } from './leaseMachine.ts';
import { notProvided } from './notProvided.ts';

const backoff: BackoffBounds = { firstMs: 500, longestMs: 1_000 };
/** How often to check whether another process has begun an epoch. */
const epochCheckMs = 5_000;
/** How long to wait before rebuilt tables are activated again. */
const activationRetryMs = 5_000;
/** How often to check whether an operator's replay has ended. */
const replayCheckMs = 2_000;

export interface Grant {
  /** Epoch in which the process writes; null if it only reads. */
  readonly epoch: number | null;
  readonly generation: number;
  /** The active generation, if this one is still being rebuilt to replace it; otherwise null. */
  readonly rebuildsFrom: number | null;
}

/** `unusableDatabase` ends the process, and `replayRunning` waits for the replay. Other failures are retried. */
type IngestFault = 'unusableDatabase' | 'replayRunning';

interface Context {
  /** Whether this process ingests; otherwise it only reads. */
  readonly writes: boolean;
  readonly name: string;
  readonly isUnused: boolean;
  /** Consecutive failures of the steps before the grant. */
  readonly failures: number;
  readonly hasReportedReplay: boolean;
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
      /** The rebuilt tables are complete and saved. */
      | { type: 'rebuilt' }
      | { type: 'leaseHeld' }
      /** The lease ended without a request. */
      | { type: 'leaseLost'; error: unknown }
      /** The lease was released on request. */
      | { type: 'leaseReleased' }
      | { type: 'preparationFailed'; error: unknown };
    children: { lease: 'lease' };
    output: { readonly fault: unknown };
    tags: 'granted' | 'rebuilding';
  },
  actors: {
    lease: leaseMachine,
    readActive: fromPromise<number>(notProvided),
    /** Name of the lease, and whether no process has ever ingested into the database. */
    identify: fromPromise<{ readonly name: string; readonly isUnused: boolean }>(notProvided),
    ensureStreams: fromPromise<void>(notProvided),
    migrate: fromPromise<void>(notProvided),
    beginEpoch: fromPromise<number>(notProvided),
    /** Looks up the active tables each time, since a replay may have replaced them. */
    chooseGeneration: fromPromise<Pick<Grant, 'generation' | 'rebuildsFrom'>, { readonly epoch: number }>(
      notProvided,
    ),
    /** Checks whether a later epoch has begun, and sends `superseded` if so. */
    checkEpoch: fromPromise<void, { readonly epoch: number }>(notProvided),
    activate: fromPromise<void, { readonly grant: Grant }>(notProvided),
  },
  guards: {
    writes: ({ context }) => context.writes,
    isFault: (_, _params: { error: unknown; fault: IngestFault }): boolean => notProvided(),
    isRebuilding: ({ context }) => context.grant !== null && context.grant.rebuildsFrom !== null,
  },
  actions: {
    noteFailure: assign({ failures: ({ context }) => context.failures + 1 }),
    noteFault: assign((_, { fault }: { fault: unknown }) => ({ fault })),
    failPreparation: raise((_, { error }: { error: unknown }) => ({ type: 'preparationFailed', error })),
    reportFailure: (_, _params: { error: unknown }): void => notProvided(),
    reportReplay: (_, _params: { error: unknown }): void => notProvided(),
    reportGrant: (): void => notProvided(),
    reportActivationFailure: (_, _params: { error: unknown }): void => notProvided(),
    /** Lets other processes fill tables again. */
    releaseRebuild: (): void => notProvided(),
  },
  delays: {
    backoff: backoffDelay(backoff),
    epochCheck: epochCheckMs,
    replayCheck: replayCheckMs,
    activationRetry: activationRetryMs,
  },
});
