import { assign, fromObservable, setup } from 'xstate';
import { notProvided } from './notProvided.ts';

export const deliveryStates = ['idle', 'gathering', 'delivering', 'retrying'] as const;
export type DeliveryState = (typeof deliveryStates)[number];

/**
 * The delivery of a queue to something that may be unavailable, in order, each item at least once. Items that trickle in are gathered for a
 * while; a batch whose outcome is unknown is delivered again unchanged before anything else.
 */
export const deliveryMachine = setup({
  types: {} as {
    context: {
      /** Distinguishes the deliveries in logs and metrics. */
      readonly label: string;
      readonly failures: number;
    };
    input: { readonly label: string };
    events: { type: 'added' } | { type: 'flushRequested' };
  },
  actors: {
    /** Delivers the batch that is due, and completes once it is acknowledged. */
    deliver: fromObservable<unknown, undefined>(notProvided),
  },
  guards: {
    hasMore: (): boolean => notProvided(),
    /** A batch is full, or something waits for the queued items. */
    isDue: (): boolean => notProvided(),
  },
  actions: {
    noteFailure: assign({ failures: ({ context }) => context.failures + 1 }),
    noteSuccess: assign({ failures: 0 }),
  },
  delays: {
    gathering: (): number => notProvided(),
    backoff: (): number => notProvided(),
  },
}).createMachine({
  id: 'delivery',
  context: ({ input: { label } }) => ({ label, failures: 0 }),
  initial: 'idle',
  states: {
    idle: { on: { added: [{ guard: 'isDue', target: 'delivering' }, { target: 'gathering' }] } },
    gathering: {
      on: {
        added: { guard: 'isDue', target: 'delivering' },
        flushRequested: { guard: 'isDue', target: 'delivering' },
      },
      after: { gathering: 'delivering' },
    },
    delivering: {
      invoke: {
        src: 'deliver',
        onDone: [
          { guard: 'isDue', target: 'delivering', reenter: true, actions: 'noteSuccess' },
          { guard: 'hasMore', target: 'gathering', actions: 'noteSuccess' },
          { target: 'idle', actions: 'noteSuccess' },
        ],
        onError: { target: 'retrying', actions: 'noteFailure' },
      },
    },
    retrying: { after: { backoff: 'delivering' } },
  },
});
