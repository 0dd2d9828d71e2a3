import { setup } from 'xstate';

export const mergeStates = ['ready', 'cooldown', 'pending', 'terminal'] as const;
export type MergeState = (typeof mergeStates)[number];

/** What decides whether a position can be merged. */
export interface MergeObservation {
  readonly level: number;
  readonly maximumLevel: number;
  readonly hasPendingWeight: boolean;
  readonly nextMergeBlock: bigint;
  /** Completed work blocks. */
  readonly blockHeight: bigint;
}

/** A position's way to its next merge: terminal at the highest level, else pending, then cooling down, then ready. */
export const mergeStateMachine = setup({
  types: {
    context: {} as Record<string, never>,
    events: {} as { type: 'observed'; position: MergeObservation },
  },
  guards: {
    isHighest: ({ event }) => event.position.level >= event.position.maximumLevel,
    isPending: ({ event }) => event.position.hasPendingWeight,
    isCooling: ({ event }) => event.position.blockHeight < event.position.nextMergeBlock,
  },
}).createMachine({
  id: 'mergeState',
  context: {},
  initial: 'pending',
  on: {
    observed: [
      { guard: 'isHighest', target: '.terminal' },
      { guard: 'isPending', target: '.pending' },
      { guard: 'isCooling', target: '.cooldown' },
      { target: '.ready' },
    ],
  },
  states: { ready: {}, cooldown: {}, pending: {}, terminal: {} },
});
