import { setup } from 'xstate';

export const indexerStates = [
  'connecting',
  'catchingUp',
  'following',
  'reorganizing',
  'lagging',
  'failing',
  'stopped',
] as const;
export type IndexerState = (typeof indexerStates)[number];

/** The indexer: whatever goes wrong, it waits and reconnects, and publishes nothing that is not proven. */
export const indexerMachine = setup({
  types: {
    context: {} as Record<string, never>,
    events: {} as
      | { type: 'farBehind' }
      | { type: 'atTip' }
      | { type: 'forkFound' }
      | { type: 'forkPublished' }
      /** The node's tip is below what is published: it lags, restarted or syncs. */
      | { type: 'nodeBehind' }
      | { type: 'failed' }
      | { type: 'retried' }
      | { type: 'stopped' },
  },
}).createMachine({
  id: 'indexer',
  context: {},
  initial: 'connecting',
  on: { stopped: '.stopped' },
  states: {
    connecting: {
      on: {
        farBehind: 'catchingUp',
        atTip: 'following',
        forkFound: 'reorganizing',
        nodeBehind: 'lagging',
        failed: 'failing',
      },
    },
    catchingUp: {
      on: { atTip: 'following', forkFound: 'reorganizing', nodeBehind: 'lagging', failed: 'failing' },
    },
    following: {
      on: { farBehind: 'catchingUp', forkFound: 'reorganizing', nodeBehind: 'lagging', failed: 'failing' },
    },
    reorganizing: { on: { forkPublished: 'following', failed: 'failing' } },
    lagging: {
      on: { atTip: 'following', farBehind: 'catchingUp', forkFound: 'reorganizing', failed: 'failing' },
    },
    /** The provider failed, or answered what cannot be true. */
    failing: { on: { retried: 'connecting' } },
    stopped: { type: 'final' },
  },
});
