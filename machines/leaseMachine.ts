import { assign, fromPromise, or, setup, stateIn } from 'xstate';
import { hasKind, passError } from './failures.ts';
import { notProvided } from './notProvided.ts';
import { requireValue } from './requireValue.ts';

/** How often the holder renews the lease, and how often a waiting process checks it. */
const renewalMs = 1_000;
/** A lease that was not renewed for this long is free. Its holder stops writing earlier. */
const abandonedMs = 6_000;

export interface LeaseObservation {
  /** Sequence of the message that represents the lease; 0 without one. */
  readonly sequence: number;
  /** Null after a release, and if this process has the lease by a claim whose answer it missed. */
  readonly holder: LeaseHolder | null;
  /** Whether the holder was a process on this host that has ended. */
  readonly hasHolderEnded: boolean;
  /** Times of the request and its response, by a clock that includes the time that the host was suspended. */
  readonly askedAtMs: number;
  readonly answeredAtMs: number;
}

export interface LeaseHolder {
  readonly host: string;
  readonly pid: number;
}

interface StoredLease {
  readonly sequence: number;
  /** Time by the same clock from which the lease counts. */
  readonly sinceMs: number;
}

interface Replacement {
  readonly name: string;
  readonly sequence: number;
  /** True to hold the lease, false to release it. */
  readonly holds: boolean;
  /** Since when the lease counts; by default the start of the attempt. */
  readonly sinceMs?: number | undefined;
}

interface Context {
  /** Names the database. One process at a time holds the lease of a name. */
  readonly name: string;
  /** No process has ever ingested under this name, so the lease is free if it has no message. */
  readonly isUnused: boolean;
  readonly observed: LeaseObservation | null;
  /** Since when the observed message has been the newest, as far as known. */
  readonly seenSinceMs: number;
  /** Whether the last attempt to read or take the lease failed. */
  readonly isFailing: boolean;
  readonly hasSeenLease: boolean;
  readonly stored: StoredLease;
  readonly fault: unknown;
}

/**
 * Since when the observed message has been the newest, as far as known. The server's time is unknown, so the time without a renewal counts from
 * the end of the first request to the start of the last one.
 */
function computeSeenSince(context: Context, { sequence, answeredAtMs }: LeaseObservation): number {
  const isUnchanged = context.observed?.sequence === sequence && !context.isFailing;
  return isUnchanged ? context.seenSinceMs : answeredAtMs;
}

/** Whether the observed lease is free. */
function isFree({ context }: { readonly context: Context }): boolean {
  const { isUnused, hasSeenLease, seenSinceMs } = context;
  const { holder, hasHolderEnded, askedAtMs } = requireValue(context.observed, 'the observed lease');
  const isNew = isUnused && !hasSeenLease;
  return isNew || holder === null || hasHolderEnded || askedAtMs - seenSinceMs >= abandonedMs;
}

const lease = setup({
  types: {} as {
    context: Context;
    input: { readonly name: string; readonly isUnused: boolean };
    events: { type: 'release' };
    output: { readonly fault: unknown };
    /** `held` allows writing. It ends when a release is requested. */
    tags: 'standby' | 'held';
  },
  actors: {
    observe: fromPromise<LeaseObservation, { readonly name: string }>(notProvided),
    /** Replaces the message with this sequence, which must be the newest. */
    replace: fromPromise<StoredLease, Replacement>(notProvided),
    /** Resolves with the sequence of the lease's message if this process holds the lease. */
    verify: fromPromise<number, { readonly name: string }>(notProvided),
    recreate: fromPromise<void>(notProvided),
  },
  guards: {
    isFree,
    /** A release was requested during an attempt to take or renew the lease. */
    isUnwanted: or([
      stateIn({ contending: { taking: 'unwanted' } }),
      stateIn({ standby: { taking: 'unwanted' } }),
      stateIn({ held: { renewing: 'unwanted' } }),
    ]),
    isLost: hasKind('leaseLost'),
    /** The lease's stream does not exist. */
    isMissing: hasKind('missing'),
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
    reportFailure: (_, _params: { error: unknown }): void => notProvided(),
    reportStandby: (): void => notProvided(),
    reportTaken: (_, _params: { wasStandby: boolean }): void => notProvided(),
    reportRenewalFailure: (_, _params: { error: unknown }): void => notProvided(),
  },
  delays: { renewal: renewalMs },
});

const noteStored = {
  type: 'noteStored',
  params: ({ event }: { event: { output: StoredLease } }) => ({ stored: event.output }),
} as const;

/** Checks the lease every second, and tries to take it once it is free. */
const contend = ({ wasStandby }: { wasStandby: boolean }) =>
  lease.createStateConfig({
    initial: 'observing',
    on: { release: '#lease.released' },
    states: {
      observing: {
        invoke: {
          src: 'observe',
          input: ({ context: { name } }) => ({ name }),
          onDone: {
            target: 'deciding',
            actions: { type: 'noteObservation', params: ({ event }) => ({ observation: event.output }) },
          },
          onError: {
            target: 'waiting',
            actions: [{ type: 'reportFailure', params: passError }, 'noteFailure'],
          },
        },
      },
      deciding: {
        always: [{ guard: 'isFree', target: 'taking' }, { target: '#lease.standby.waiting' }],
      },
      taking: {
        invoke: {
          src: 'replace',
          input: ({ context: { name, observed } }) => ({
            name,
            sequence: observed?.sequence ?? 0,
            holds: true,
            // Other processes count from an observation before it was stored.
            sinceMs: observed?.askedAtMs,
          }),
          onDone: [
            { guard: 'isUnwanted', target: '#lease.releasing', actions: noteStored },
            {
              target: '#lease.held',
              actions: [noteStored, { type: 'reportTaken', params: { wasStandby } }],
            },
          ],
          // The attempt may have stored its message.
          onError: [
            { guard: 'isUnwanted', target: '#lease.released' },
            { target: 'waiting', actions: [{ type: 'reportFailure', params: passError }, 'noteFailure'] },
          ],
        },
        initial: 'wanted',
        states: {
          wanted: { on: { release: 'unwanted' } },
          unwanted: { on: { release: {} } },
        },
      },
      waiting: { after: { renewal: 'observing' } },
    },
  });

/**
 * The lease of a database, as one process sees it. The process waits for it, renews it every second while it holds it, and loses it once
 * another process has it. If the outcome of a renewal is unknown, the stored message decides. Holders must also check the time of the
 * last renewal before they write: a process that was paused writes before this machine can make a transition.
 */
export const leaseMachine = lease.createMachine({
  id: 'lease',
  context: ({ input }) => ({
    ...input,
    observed: null,
    seenSinceMs: 0,
    isFailing: false,
    hasSeenLease: false,
    stored: { sequence: 0, sinceMs: 0 },
    fault: null,
  }),
  initial: 'contending',
  states: {
    contending: {
      ...contend({ wasStandby: false }),
      meta: { isRoutineInside: true },
    },
    standby: {
      ...contend({ wasStandby: true }),
      initial: 'waiting',
      meta: { isRoutineInside: true },
      tags: 'standby',
      entry: 'reportStandby',
    },
    held: {
      meta: { isRoutineInside: true },
      initial: 'waiting',
      on: { release: '#lease.releasing' },
      states: {
        waiting: { tags: 'held', after: { renewal: 'renewing' } },
        renewing: {
          invoke: {
            src: 'replace',
            input: ({ context: { name, stored } }) => ({ name, sequence: stored.sequence, holds: true }),
            // A release needs the sequence of the message that it replaces.
            onDone: [
              { guard: 'isUnwanted', target: '#lease.releasing', actions: noteStored },
              { target: 'waiting', actions: noteStored },
            ],
            onError: [
              { guard: 'isUnwanted', target: '#lease.releasing' },
              { target: 'verifying', actions: { type: 'reportRenewalFailure', params: passError } },
            ],
          },
          initial: 'wanted',
          states: {
            wanted: { tags: 'held', on: { release: 'unwanted' } },
            unwanted: { on: { release: {} } },
          },
        },
        verifying: {
          tags: 'held',
          invoke: {
            src: 'verify',
            input: ({ context: { name } }) => ({ name }),
            onDone: {
              target: 'waiting',
              actions: {
                type: 'noteStored',
                params: ({ context, event }) => ({ stored: { ...context.stored, sequence: event.output } }),
              },
            },
            onError: [
              {
                guard: 'isLost',
                target: '#lease.lost',
                actions: assign({ fault: ({ event }) => event.error }),
              },
              { guard: 'isMissing', target: 'recreating' },
              { target: 'waiting' },
            ],
          },
        },
        recreating: {
          tags: 'held',
          invoke: { src: 'recreate', onDone: 'waiting', onError: 'waiting' },
        },
      },
    },
    /** If this fails, a standby takes over a few seconds later. */
    releasing: {
      invoke: {
        src: 'replace',
        input: ({ context: { name, stored } }) => ({ name, sequence: stored.sequence, holds: false }),
        onDone: 'released',
        onError: 'released',
      },
    },
    released: { type: 'final' },
    lost: { type: 'final' },
  },
  output: ({ context }) => ({ fault: context.fault }),
});
