import { setup } from 'xstate';

export const submissionLifecycles = [
  'preparing',
  'submitted',
  'retrying',
  'confirmed',
  'reverted',
  'superseded',
] as const;
export type SubmissionLifecycle = (typeof submissionLifecycles)[number];

/**
 * The lifecycle of one settlement submission. What was never submitted can be superseded, and neither confirmed nor
 * reverted (CONTRACT.md, Cross-field rules, 6). Three states are terminal.
 */
export const submissionMachine = setup({
  types: {
    context: {} as Record<string, never>,
    events: {} as
      | { type: 'submitted' }
      | { type: 'retrying' }
      | { type: 'confirmed' }
      | { type: 'reverted' }
      | { type: 'superseded' },
  },
}).createMachine({
  id: 'submission',
  context: {},
  initial: 'preparing',
  states: {
    preparing: {
      on: { submitted: 'submitted', retrying: 'retryingUnsent', superseded: 'superseded' },
    },
    submitted: {
      on: { retrying: 'retrying', confirmed: 'confirmed', reverted: 'reverted', superseded: 'superseded' },
    },
    /** Shown as retrying: nothing of it has reached the chain yet. */
    retryingUnsent: {
      on: { submitted: 'submitted', retrying: 'retryingUnsent', superseded: 'superseded' },
    },
    retrying: {
      on: {
        submitted: 'submitted',
        retrying: 'retrying',
        confirmed: 'confirmed',
        reverted: 'reverted',
        superseded: 'superseded',
      },
    },
    confirmed: { type: 'final' },
    reverted: { type: 'final' },
    superseded: { type: 'final' },
  },
});
