import { assign, raise } from 'xstate';
import { passError, passFault } from './failureParams.ts';
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
                // Others count from an observation before it was stored.
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
          /** It is released once the attempt has ended. */
          unwanted: {
            on: { stored: '#lease.releasing', notStored: '#lease.released', release: {} },
          },
        },
      },
      waiting: { after: { renewal: 'observing' } },
    },
  });

/**
 * The lease of a database, as one process sees it: it is waited for, held and renewed every second, and lost once another process has it. When
 * the outcome of a renewal is unknown, the stored message decides. Whether it is held at this moment also depends on the time of the last
 * renewal, which no machine can decide: a paused process has no time to make a transition before it writes.
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
            /** To release it, the sequence of the message to replace must be known. */
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
                guard: { type: 'isFault', params: passFault('lost') },
                target: '#lease.lost',
                actions: assign({ fault: ({ event }) => event.error }),
              },
              {
                guard: { type: 'isFault', params: passFault('missing') },
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
