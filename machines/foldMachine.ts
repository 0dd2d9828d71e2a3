import { setup } from 'xstate';

/**
 * Progress of one stream's fold. Its state is shown once it is restored, and stays visible: while it is rebuilt after a divergence or
 * a replay, views answer from the state so far.
 */
export const foldMachine = setup({
  types: {} as {
    context: {
      readonly label: string;
    };
    input: { readonly label: string };
    events:
      | { type: 'restored' }
      /** All messages that the stream held at the restoration are folded. */
      | { type: 'caughtUp' }
      /** The state is being restored again. */
      | { type: 'restarted' };
    /** `restored` and `caughtUp` mean at least once; `current` means caught up and not being rebuilt. */
    tags: 'restored' | 'caughtUp' | 'current';
  },
}).createMachine({
  id: 'fold',
  context: ({ input: { label } }) => ({ label }),
  initial: 'empty',
  states: {
    empty: { on: { restored: 'incomplete' } },
    incomplete: { tags: 'restored', on: { caughtUp: 'current' } },
    current: { tags: ['restored', 'caughtUp', 'current'], on: { restarted: 'rebuilding' } },
    rebuilding: { tags: ['restored', 'caughtUp'], on: { caughtUp: 'current' } },
  },
});
