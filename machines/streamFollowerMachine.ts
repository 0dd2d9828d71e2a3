import { setup } from 'xstate';

export const streamFollowerStates = ['restoring', 'folding', 'stopped'] as const;
export type StreamFollowerState = (typeof streamFollowerStates)[number];

/** The follower of one stream: a snapshot is restored, then messages are folded; a divergence leads back. */
export const streamFollowerMachine = setup({
  types: {
    context: {} as Record<string, never>,
    events: {} as { type: 'restored' } | { type: 'diverged' } | { type: 'stopped' },
  },
}).createMachine({
  id: 'streamFollower',
  context: {},
  initial: 'restoring',
  on: { stopped: '.stopped' },
  states: {
    restoring: { on: { restored: 'folding' } },
    folding: { on: { diverged: 'restoring' } },
    stopped: { type: 'final' },
  },
});
