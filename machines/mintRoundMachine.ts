import { setup } from 'xstate';

export const mintRoundStates = ['accruing', 'ready'] as const;
export type MintRoundState = (typeof mintRoundStates)[number];

/** The next round to mint: it accrues until it is settled, then a checkpoint can mint it. */
export const mintRoundMachine = setup({
  types: {
    context: {} as Record<string, never>,
    events: {} as { type: 'observed'; round: bigint; settledThroughRound: bigint },
  },
  guards: {
    isSettled: ({ event }) => event.settledThroughRound >= event.round,
  },
}).createMachine({
  id: 'mintRound',
  context: {},
  initial: 'accruing',
  on: { observed: [{ guard: 'isSettled', target: '.ready' }, { target: '.accruing' }] },
  states: { accruing: {}, ready: {} },
});
