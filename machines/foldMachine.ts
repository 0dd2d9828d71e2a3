import { setup } from 'xstate';

/**
 * How far the state of a stream's fold has come. Once restored it is shown, and stays so: while it is rebuilt, after a divergence or a replay,
 * views answer from what is there.
 */
export const foldMachine = setup({
  types: {} as {
    context: {
      readonly label: string;
    };
    input: { readonly label: string };
    events:
      | { type: 'restored' }
      /** Everything that the stream held when state was restored is folded. */
      | { type: 'caughtUp' }
      /** State is restored once more. */
      | { type: 'restarted' };
    /** Restored: at least once. Caught up: at least once. Current: caught up, and not being rebuilt. */
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
