import { setup } from 'xstate';
import type { ChainAvailability } from './chainAvailabilityMachine.ts';

export const settlementSources = ['live', 'durable-cache', 'unavailable'] as const;
export type SettlementSource = (typeof settlementSources)[number];

/** Where settlement history comes from: while the indexer is away or behind, the last good state serves. */
export const settlementSourceMachine = setup({
  types: {
    context: {} as Record<string, never>,
    events: {} as { type: 'observed'; availability: ChainAvailability; hasLastGood: boolean },
  },
  guards: {
    isAvailable: ({ event }) => event.availability === 'available',
    isBehindWithCopy: ({ event }) =>
      event.hasLastGood &&
      ['indexer_unavailable', 'projection_rebuilding', 'projection_failed'].includes(event.availability),
  },
}).createMachine({
  id: 'settlementSource',
  context: {},
  initial: 'unavailable',
  on: {
    observed: [
      { guard: 'isAvailable', target: '.live' },
      { guard: 'isBehindWithCopy', target: '.durable-cache' },
      { target: '.unavailable' },
    ],
  },
  states: { live: {}, 'durable-cache': {}, unavailable: {} },
});
