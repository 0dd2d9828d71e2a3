import { setup } from 'xstate';

/** A measurement is stale when its receipt is more than this old; exactly this old is online (CONTRACT.md, Measurement freshness). */
export const stalenessSeconds = 120;

/** Measurement freshness: a class of the receipt's age, not of the device's connection (CONTRACT.md, Measurement freshness). */
export const freshnessStates = ['offline', 'online', 'stale'] as const;
export type Freshness = (typeof freshnessStates)[number];

/**
 * Freshness of one installation's measurement. Time comes in as an event: `receiptAgeMs` is what an injected
 * clock says when a view is made.
 */
export const freshnessMachine = setup({
  types: {
    context: {} as Record<string, never>,
    events: {} as { type: 'observed'; receiptAgeMs: number },
  },
  guards: {
    isOld: ({ event }) => event.receiptAgeMs > stalenessSeconds * 1000,
  },
}).createMachine({
  id: 'freshness',
  context: {},
  initial: 'offline',
  on: {
    observed: [{ guard: 'isOld', target: '.stale' }, { target: '.online' }],
  },
  states: { offline: {}, online: {}, stale: {} },
});
