import { setup } from 'xstate';

export const collectionPhases = ['unconfigured', 'pending', 'allowlist', 'public', 'closed'] as const;
export type CollectionPhase = (typeof collectionPhases)[number];

/** What decides the phase, at the time of the safe block. */
export interface SaleObservation {
  readonly timestampSeconds: bigint;
  readonly isConfigured: boolean;
  readonly isClosed: boolean;
  readonly isSoldOut: boolean;
  readonly allowlistStart: bigint;
  readonly allowlistEnd: bigint;
}

/** The collection's sale. A timed change takes effect as observed, without an event of the collection (CONTRACT.md, Collection phase). */
export const collectionPhaseMachine = setup({
  types: {
    context: {} as Record<string, never>,
    events: {} as { type: 'observed'; sale: SaleObservation },
  },
  guards: {
    isClosed: ({ event }) => event.sale.isClosed,
    isUnconfigured: ({ event }) => !event.sale.isConfigured,
    isSoldOut: ({ event }) => event.sale.isSoldOut,
    isBefore: ({ event }) => event.sale.timestampSeconds < event.sale.allowlistStart,
    isAllowlist: ({ event }) => event.sale.timestampSeconds < event.sale.allowlistEnd,
  },
}).createMachine({
  id: 'collectionPhase',
  context: {},
  initial: 'unconfigured',
  on: {
    observed: [
      { guard: 'isClosed', target: '.closed' },
      { guard: 'isUnconfigured', target: '.unconfigured' },
      { guard: 'isSoldOut', target: '.closed' },
      { guard: 'isBefore', target: '.pending' },
      { guard: 'isAllowlist', target: '.allowlist' },
      { target: '.public' },
    ],
  },
  states: { unconfigured: {}, pending: {}, allowlist: {}, public: {}, closed: {} },
});
