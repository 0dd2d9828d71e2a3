import { assign, fromPromise, raise, setup } from 'xstate';
import { type BackoffBounds, backoffDelay } from './backoff.ts';
import { leaseMachine } from './leaseMachine.ts';
import { notProvided } from './notProvided.ts';

const backoff: BackoffBounds = { firstMs: 500, longestMs: 1_000 };
/** How often to check whether another process has begun an epoch, */
const epochCheckMs = 5_000;
/** and whether an operator's replay has ended. */
const replayCheckMs = 2_000;

export interface Grant {
  /** In which it writes; null for one that only reads. */
  readonly epoch: number | null;
  readonly generation: number;
  /** The active generation, which is read until this one is rebuilt and replaces it; null where this one is active. */
  readonly rebuildsFrom: number | null;
}

/** A fault that retrying cannot resolve, and a replay that must end first; anything else is retried. */
type IngestFault = 'unusableDatabase' | 'replayRunning';

interface Context {
  /** Whether this process ingests; one that does not only reads. */
  readonly writes: boolean;
  readonly name: string;
  readonly isUnused: boolean;
  /** Consecutive ones, of the steps before the grant. */
  readonly failures: number;
  readonly hasReportedReplay: boolean;
  readonly epoch: number;
  readonly grant: Grant | null;
  readonly fault: unknown;
}

/** What the machine of the ingest consists of; `ingestMachine.ts` says what follows what. */
export const ingest = setup({
  types: {} as {
    context: Context;
    input: { readonly writes: boolean };
    events:
      | { type: 'release' }
      /** Another process has begun a later epoch. */
      | { type: 'superseded'; error: unknown }
      /** What is being rebuilt is complete and saved. */
      | { type: 'rebuilt' }
      | { type: 'leaseHeld' }
      /** The lease has ended by itself, */
      | { type: 'leaseLost'; error: unknown }
      /** or was released. */
      | { type: 'leaseReleased' }
      | { type: 'preparationFailed'; error: unknown };
    children: { lease: 'lease' };
    output: { readonly fault: unknown };
    tags: 'granted' | 'rebuilding';
  },
  actors: {
    lease: leaseMachine,
    readActive: fromPromise<number>(notProvided),
    /** The name of the lease, and whether nobody has ever ingested into the database. */
    identify: fromPromise<{ readonly name: string; readonly isUnused: boolean }>(notProvided),
    ensureStreams: fromPromise<void>(notProvided),
    migrate: fromPromise<void>(notProvided),
    beginEpoch: fromPromise<number>(notProvided),
    /** Looks up which tables are active each time: a replay that was waited for has replaced them. */
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
    /** Lets others fill tables again. */
    releaseRebuild: (): void => notProvided(),
  },
  delays: {
    backoff: backoffDelay(backoff),
    epochCheck: epochCheckMs,
    replayCheck: replayCheckMs,
  },
});
