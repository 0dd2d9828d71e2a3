import { assign, fromPromise, raise, setup } from 'xstate';
import { notProvided } from './notProvided.ts';

/** How often the holder renews the lease, and how often a waiting process checks it. */
const renewalMs = 1_000;
/** A lease that was not renewed for this long is free. A holder stops writing earlier than that without a renewal. */
const abandonedMs = 6_000;

export interface LeaseObservation {
  /** Of the message that is the lease; 0 where there is none. */
  readonly sequence: number;
  /** Null once it was released. */
  readonly holder: LeaseHolder | null;
  /** Whether the holder was a process of this machine that has ended. */
  readonly hasHolderEnded: boolean;
  /** Times of the request and of its response, by a clock that counts the time that the machine was suspended. */
  readonly askedAtMs: number;
  readonly answeredAtMs: number;
}

export interface LeaseHolder {
  readonly host: string;
  readonly pid: number;
}

interface StoredLease {
  readonly sequence: number;
  /** When the attempt to store it began, by the same clock: the lease counts from then on. */
  readonly sinceMs: number;
}

interface Replacement {
  readonly name: string;
  readonly sequence: number;
  /** Whether this process holds the lease with it, or releases it. */
  readonly holds: boolean;
}

/** Why a lease could not be verified; anything else is retried. */
export type LeaseFault =
  | 'lost'
  /** There is no such stream. */
  | 'missing';

interface Context {
  /** What is ingested into: one process at a time for each name. */
  readonly name: string;
  /** Nobody has ever ingested under this name: without a message the lease is free. */
  readonly isUnused: boolean;
  readonly observed: LeaseObservation | null;
  /** Since when the observed message is known to have been the newest. */
  readonly seenSinceMs: number;
  /** Whether the last attempt to read or take the lease has failed. */
  readonly isFailing: boolean;
  readonly hasSeenLease: boolean;
  readonly stored: StoredLease;
  readonly fault: unknown;
}

/** When the server answered a request is unknown, so time without a renewal counts from the end of the first request to the beginning of the last one. */
function computeSeenSince(context: Context, { sequence, answeredAtMs }: LeaseObservation): number {
  const isUnchanged = context.observed?.sequence === sequence && !context.isFailing;
  return isUnchanged ? context.seenSinceMs : answeredAtMs;
}

function isFreeLease(context: Context, observation: LeaseObservation): boolean {
  const { sequence, holder, hasHolderEnded, askedAtMs } = observation;
  const isNew = sequence === 0 && context.isUnused && !context.hasSeenLease;
  const isAbandoned = askedAtMs - computeSeenSince(context, observation) >= abandonedMs;
  return isNew || holder === null || hasHolderEnded || isAbandoned;
}

/** What the machine of the lease consists of; `leaseMachine.ts` says what follows what. */
export const lease = setup({
  types: {} as {
    context: Context;
    input: { readonly name: string; readonly isUnused: boolean };
    events:
      | { type: 'release' }
      /** The message that an attempt was to store is the lease now, */
      | { type: 'stored' }
      /** or the attempt has failed, and may have stored it nevertheless. */
      | { type: 'notStored'; error: unknown };
    output: { readonly fault: unknown };
    /** Held: what it allows may be done; not once its release was requested. */
    tags: 'standby' | 'held';
  },
  actors: {
    observe: fromPromise<LeaseObservation, { readonly name: string }>(notProvided),
    /** Replaces a message, which must be the newest, with another one. */
    replace: fromPromise<StoredLease, Replacement>(notProvided),
    /** Resolves with the message that is the lease, when it is ours. */
    verify: fromPromise<number, { readonly name: string }>(notProvided),
    recreate: fromPromise<void>(notProvided),
  },
  guards: {
    isFree: ({ context }, { observation }: { observation: LeaseObservation }) =>
      isFreeLease(context, observation),
    isFault: (_, _params: { error: unknown; fault: LeaseFault }): boolean => notProvided(),
  },
  actions: {
    noteObservation: assign(({ context }, { observation }: { observation: LeaseObservation }) => ({
      observed: observation,
      seenSinceMs: computeSeenSince(context, observation),
      hasSeenLease: context.hasSeenLease || observation.sequence > 0,
      isFailing: false,
    })),
    noteFailure: assign({ isFailing: true }),
    noteStored: assign((_, { stored }: { stored: StoredLease }) => ({ stored })),
    raiseNotStored: raise((_, { error }: { error: unknown }) => ({ type: 'notStored', error })),
    reportFailure: (_, _params: { error: unknown }): void => notProvided(),
    reportStandby: (): void => notProvided(),
    reportTaken: (_, _params: { wasStandby: boolean }): void => notProvided(),
    reportRenewalFailure: (_, _params: { error: unknown }): void => notProvided(),
  },
  delays: { renewal: renewalMs },
});
