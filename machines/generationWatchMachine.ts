import { assign, fromPromise, setup } from 'xstate';
import { notProvided } from './notProvided.ts';

const intervalMs = 1_000;

export interface ActiveGeneration {
  readonly generation: number;
  /** `known`: not above the newest reported one. Above it: `ours` was made by this process's version of the fold, `foreign` by another one. */
  readonly verdict: 'known' | 'ours' | 'foreign';
}

interface Context {
  readonly isShared: boolean;
  /** The newest reported generation. One that is being rebuilt is above the active one until it replaces it. */
  readonly announced: number;
}

/** Checks every second whether a replay has activated other tables. Tables that another version of the fold has made cannot be used here. */
export const generationWatchMachine = setup({
  types: {} as {
    context: Context;
    /** Nobody else can replace the tables of an engine that belongs to this process. */
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
            // Unavailable at the moment; what needs the database logs it.
            onError: 'waiting',
          },
        },
      },
    },
  },
});
