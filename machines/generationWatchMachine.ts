import { assign, fromPromise, setup } from 'xstate';
import { notProvided } from './notProvided.ts';

const intervalMs = 1_000;

export interface ActiveGeneration {
  readonly generation: number;
  /** `known` is not newer than the newest reported generation. A newer one is `ours` if this version of the fold made it, otherwise `foreign`. */
  readonly verdict: 'known' | 'ours' | 'foreign';
}

interface Context {
  readonly isShared: boolean;
  /** The newest reported generation. During a rebuild it is newer than the active one. */
  readonly announced: number;
}

/** Checks every second whether a replay has activated other tables. Tables from another version of the fold cannot be used here. */
export const generationWatchMachine = setup({
  types: {} as {
    context: Context;
    /** If the database is not shared, no other process can replace its tables. */
    input: { readonly generation: number; readonly isShared: boolean };
  },
  actors: {
    look: fromPromise<ActiveGeneration, { readonly announced: number }>(notProvided),
  },
  guards: {
    isShared: ({ context }) => context.isShared,
    hasVerdict: (
      _,
      { active, verdict }: { active: ActiveGeneration; verdict: ActiveGeneration['verdict'] },
    ) => active.verdict === verdict,
  },
  actions: {
    announce: assign((_, { generation }: { generation: number }) => ({ announced: generation })),
    useActive: (_, _params: { generation: number }): void => notProvided(),
    reportForeign: (_, _params: { generation: number }): void => notProvided(),
  },
  delays: { interval: intervalMs },
}).createMachine({
  id: 'generationWatch',
  context: ({ input: { generation, isShared } }) => ({ announced: generation, isShared }),
  initial: 'deciding',
  states: {
    deciding: { always: [{ guard: 'isShared', target: 'watching' }, { target: 'alone' }] },
    alone: {},
    watching: {
      meta: { isRoutineInside: true },
      initial: 'waiting',
      states: {
        waiting: { after: { interval: 'looking' } },
        looking: {
          invoke: {
            src: 'look',
            input: ({ context: { announced } }) => ({ announced }),
            onDone: [
              {
                guard: {
                  type: 'hasVerdict',
                  params: ({ event }) => ({ active: event.output, verdict: 'ours' }),
                },
                target: 'waiting',
                actions: [
                  { type: 'useActive', params: ({ event }) => ({ generation: event.output.generation }) },
                  { type: 'announce', params: ({ event }) => ({ generation: event.output.generation }) },
                ],
              },
              {
                guard: {
                  type: 'hasVerdict',
                  params: ({ event }) => ({ active: event.output, verdict: 'foreign' }),
                },
                target: 'waiting',
                actions: [
                  { type: 'reportForeign', params: ({ event }) => ({ generation: event.output.generation }) },
                  { type: 'announce', params: ({ event }) => ({ generation: event.output.generation }) },
                ],
              },
              { target: 'waiting' },
            ],
            // The parts that use the database log that it is unavailable.
            onError: 'waiting',
          },
        },
      },
    },
  },
});
