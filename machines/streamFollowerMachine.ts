import { setup } from 'xstate';

export const streamFollowerStates = ['restoring', 'folding', 'stopped'] as const;
export type StreamFollowerState = (typeof streamFollowerStates)[number];

/** The follower of one stream: a snapshot is restored, then messages are folded; a divergence leads back, and so
 * do tables that were replaced by a replay. */
export const streamFollowerMachine = setup({
  types: {
    context: {} as Record<string, never>,
    events: {} as { type: 'restored' } | { type: 'diverged' } | { type: 'replaced' } | { type: 'stopped' },
  },
}).createMachine({
  id: 'streamFollower',
  context: {},
  initial: 'restoring',
  on: { stopped: '.stopped' },
  states: {
    restoring: { on: { restored: 'folding' } },
    folding: { on: { diverged: 'restoring', replaced: 'restoring' } },
    stopped: { type: 'final' },
  },
});
