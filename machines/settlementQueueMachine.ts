import { setup } from 'xstate';

export const settlementQueueStates = [
  'disabled',
  'empty',
  'ready',
  'preparing',
  'submitted',
  'retrying',
  'blocked',
  'stale',
] as const;
export type SettlementQueueState = (typeof settlementQueueStates)[number];

/** What decides the queue's state (CONTRACT.md, Settlement queue state). */
export interface QueueObservation {
  readonly isBlocked: boolean;
  readonly isEnabled: boolean;
  /** No run was completed, the last completion is too old, or a newer run is unfinished. */
  readonly isReporterStale: boolean;
  /** Lifecycle of the latest submission while it is active; null otherwise. */
  readonly activeSubmission: 'preparing' | 'submitted' | 'retrying' | null;
  readonly hasBufferedRounds: boolean;
}

/** The settlement queue: the first condition that holds, in the document's order. */
export const settlementQueueMachine = setup({
  types: {
    context: {} as Record<string, never>,
    events: {} as { type: 'observed'; queue: QueueObservation },
  },
  guards: {
    isBlocked: ({ event }) => event.queue.isBlocked,
    isDisabled: ({ event }) => !event.queue.isEnabled,
    isStale: ({ event }) => event.queue.isReporterStale,
    isPreparing: ({ event }) => event.queue.activeSubmission === 'preparing',
    isSubmitted: ({ event }) => event.queue.activeSubmission === 'submitted',
    isRetrying: ({ event }) => event.queue.activeSubmission === 'retrying',
    isEmpty: ({ event }) => !event.queue.hasBufferedRounds,
  },
}).createMachine({
  id: 'settlementQueue',
  context: {},
  initial: 'disabled',
  on: {
    observed: [
      { guard: 'isBlocked', target: '.blocked' },
      { guard: 'isDisabled', target: '.disabled' },
      { guard: 'isStale', target: '.stale' },
      { guard: 'isPreparing', target: '.preparing' },
      { guard: 'isSubmitted', target: '.submitted' },
      { guard: 'isRetrying', target: '.retrying' },
      { guard: 'isEmpty', target: '.empty' },
      { target: '.ready' },
    ],
  },
  states: {
    disabled: {},
    empty: {},
    ready: {},
    preparing: {},
    submitted: {},
    retrying: {},
    blocked: {},
    stale: {},
  },
});
