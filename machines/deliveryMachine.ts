import { assign, fromObservable, type Subscribable, setup } from 'xstate';
import { notProvided } from './notProvided.ts';
import { requireValue } from './requireValue.ts';

export const deliveryStates = ['idle', 'gathering', 'delivering', 'retrying'] as const;
export type DeliveryState = (typeof deliveryStates)[number];

interface DeliveryBatch {
  readonly weight: number;
  /** Completes once the batch is acknowledged. */
  deliver(): Subscribable<unknown>;
}

/** The items that wait behind the current batch. */
interface DeliveryQueue {
  isEmpty(): boolean;
  /** Whether a batch is full, or a caller waits for one of the items. */
  isDue(): boolean;
  take(): DeliveryBatch;
}

/**
 * Delivers a queue in order, each item at least once, to a destination that may be unavailable. Single items are gathered for a
 * while. A batch whose outcome is unknown is delivered again, unchanged, before anything else.
 */
export const deliveryMachine = setup({
  types: {} as {
    context: {
      readonly label: string;
      readonly queue: DeliveryQueue;
      /** Null while nothing is being delivered. */
      readonly batch: DeliveryBatch | null;
      readonly failures: number;
      /** A flush was requested, and the queue has not been emptied since. */
      readonly isFlushing: boolean;
      /** No more items will be added. */
      readonly hasEnded: boolean;
    };
    input: { readonly label: string; readonly queue: DeliveryQueue };
    events: { type: 'added' } | { type: 'flushRequested' } | { type: 'ended' };
  },
  actors: {
    deliver: fromObservable<unknown, DeliveryBatch>(({ input }) => input.deliver()),
  },
  guards: {
    hasMore: ({ context: { queue } }) => !queue.isEmpty(),
    isDue: ({ context: { queue, isFlushing, hasEnded } }) =>
      !queue.isEmpty() && (queue.isDue() || isFlushing || hasEnded),
  },
  actions: {
    takeBatch: assign(({ context: { queue, batch: unacknowledged, isFlushing } }) => {
      const batch = unacknowledged ?? queue.take();
      return { batch, isFlushing: isFlushing && !queue.isEmpty() };
    }),
    noteFlush: assign({ isFlushing: ({ context }) => !context.queue.isEmpty() }),
    noteEnd: assign({ hasEnded: true }),
    noteFailure: assign({ failures: ({ context }) => context.failures + 1 }),
    noteSuccess: assign({ failures: 0, batch: null }),
  },
  delays: {
    gathering: (): number => notProvided(),
    backoff: (): number => notProvided(),
  },
}).createMachine({
  id: 'delivery',
  context: ({ input }) => ({ ...input, batch: null, failures: 0, isFlushing: false, hasEnded: false }),
  on: { flushRequested: { actions: 'noteFlush' }, ended: { actions: 'noteEnd' } },
  initial: 'idle',
  states: {
    idle: { on: { added: [{ guard: 'isDue', target: 'delivering' }, { target: 'gathering' }] } },
    gathering: {
      on: {
        added: { guard: 'isDue', target: 'delivering' },
        flushRequested: { target: 'delivering', actions: 'noteFlush' },
        ended: { target: 'delivering', actions: 'noteEnd' },
      },
      after: { gathering: 'delivering' },
    },
    delivering: {
      entry: 'takeBatch',
      invoke: {
        src: 'deliver',
        input: ({ context }) => requireValue(context.batch, 'the batch to be delivered'),
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
