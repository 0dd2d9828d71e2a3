import { setup } from 'xstate';

export const oracleStates = ['accepted', 'stale', 'blocked', 'unavailable'] as const;
export type OracleState = (typeof oracleStates)[number];

/** A latest acceptance older than this is stale (CONTRACT.md, Oracle state). */
export const oracleStaleSeconds = 1200;

/** What the oracle has said, and how long ago it accepted last. */
export interface OracleObservation {
  readonly hasClosure: boolean;
  readonly isBlocked: boolean;
  readonly acceptanceAgeMs: number;
}

/** The oracle: unavailable before any closure, blocked while it says so, else accepted or stale by its last acceptance. */
export const oracleMachine = setup({
  types: {
    context: {} as Record<string, never>,
    events: {} as { type: 'observed'; oracle: OracleObservation },
  },
  guards: {
    isUnavailable: ({ event }) => !event.oracle.hasClosure,
    isBlocked: ({ event }) => event.oracle.isBlocked,
    isOld: ({ event }) => event.oracle.acceptanceAgeMs > oracleStaleSeconds * 1000,
  },
}).createMachine({
  id: 'oracle',
  context: {},
  initial: 'unavailable',
  on: {
    observed: [
      { guard: 'isUnavailable', target: '.unavailable' },
      { guard: 'isBlocked', target: '.blocked' },
      { guard: 'isOld', target: '.stale' },
      { target: '.accepted' },
    ],
  },
  states: { accepted: {}, stale: {}, blocked: {}, unavailable: {} },
});
