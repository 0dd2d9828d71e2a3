import { assign, raise } from 'xstate';
import { passError } from './failures.ts';
import { lease } from './leaseSetup.ts';

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
          onDone: [
            {
              guard: { type: 'isFree', params: ({ event }) => ({ observation: event.output }) },
              target: 'taking',
              actions: { type: 'noteObservation', params: ({ event }) => ({ observation: event.output }) },
            },
            {
              target: '#lease.standby.waiting',
              actions: { type: 'noteObservation', params: ({ event }) => ({ observation: event.output }) },
            },
          ],
          onError: {
            target: 'waiting',
            actions: [{ type: 'reportFailure', params: passError }, 'noteFailure'],
          },
        },
      },
      taking: {
        invoke: {
          src: 'replace',
          input: ({ context: { name, observed } }) => ({
            name,
            sequence: observed?.sequence ?? 0,
            holds: true,
          }),
          onDone: {
            actions: [
              assign(({ context: { observed }, event: { output } }) => ({
                // Other processes count from an observation before it was stored.
                stored: { ...output, sinceMs: observed?.askedAtMs ?? output.sinceMs },
              })),
              raise({ type: 'stored' }),
            ],
          },
          onError: { actions: { type: 'raiseNotStored', params: passError } },
        },
        on: {
          notStored: {
            target: 'waiting',
            actions: [{ type: 'reportFailure', params: passError }, 'noteFailure'],
          },
        },
        initial: 'wanted',
        states: {
          wanted: {
            on: {
              stored: {
                target: '#lease.held',
                actions: { type: 'reportTaken', params: { wasStandby } },
              },
              release: 'unwanted',
            },
          },
          /** A release was requested; it follows once the attempt has ended. */
          unwanted: {
            on: { stored: '#lease.releasing', notStored: '#lease.released', release: {} },
          },
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
            onDone: {
              actions: [
                { type: 'noteStored', params: ({ event }) => ({ stored: event.output }) },
                raise({ type: 'stored' }),
              ],
            },
            onError: { actions: { type: 'raiseNotStored', params: passError } },
          },
          initial: 'wanted',
          states: {
            wanted: {
              tags: 'held',
              on: {
                stored: '#lease.held.waiting',
                notStored: {
                  target: '#lease.held.verifying',
                  actions: { type: 'reportRenewalFailure', params: passError },
                },
                release: 'unwanted',
              },
            },
            /** A release needs the sequence of the message that it replaces. */
            unwanted: {
              on: { stored: '#lease.releasing', notStored: '#lease.releasing', release: {} },
            },
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
              {
                guard: 'isMissing',
                target: 'recreating',
              },
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
