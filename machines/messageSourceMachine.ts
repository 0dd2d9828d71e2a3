import { setup } from 'xstate';

/** States of one stream's source, as `/metrics` shows them. */
export const messageSourceStates = [
  'verifying',
  'catchingUp',
  'following',
  'gap',
  'diverged',
  'closed',
] as const;
export type MessageSourceState = (typeof messageSourceStates)[number];

/**
 * The source of one stream. Every (re)connection begins with `verifying`: the stream must still be the one that
 * was folded (MESSAGES.md, Consumption). Any trouble with the consumer leads back there.
 */
export const messageSourceMachine = setup({
  types: {
    context: {} as Record<string, never>,
    events: {} as
      | { type: 'verified' }
      | { type: 'caughtUp' }
      | { type: 'interrupted' }
      | { type: 'gapFound' }
      | { type: 'divergenceFound' }
      | { type: 'restored' }
      | { type: 'closed' },
  },
}).createMachine({
  id: 'messageSource',
  context: {},
  initial: 'verifying',
  on: { closed: '.closed' },
  states: {
    verifying: {
      on: { verified: 'catchingUp', gapFound: 'gap', divergenceFound: 'diverged' },
    },
    catchingUp: {
      on: { caughtUp: 'following', interrupted: 'verifying', gapFound: 'gap', divergenceFound: 'diverged' },
    },
    following: {
      on: { interrupted: 'verifying', gapFound: 'gap', divergenceFound: 'diverged' },
    },
    /** Messages are missing and the stream does not say why: the fold stands still until they arrive. */
    gap: {
      on: { verified: 'catchingUp', interrupted: 'gap', divergenceFound: 'diverged' },
    },
    /** The stream is not the one that was folded: an older snapshot is being restored. */
    diverged: {
      on: { restored: 'verifying' },
    },
    closed: { type: 'final' },
  },
});
