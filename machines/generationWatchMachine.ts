import { assign, fromPromise, setup } from 'xstate';
import { notProvided } from './notProvided.ts';

const intervalMs = 1_000;

/** The generation of tables that is active. */
export interface ActiveGeneration {
  readonly generation: number;
  /** It is not above the newest one that was told of, or the fold of this process has made it, or another one. */
  readonly verdict: 'known' | 'ours' | 'foreign';
}

interface Context {
  readonly isShared: boolean;
  /** The newest generation that was told of. The one that is being rebuilt is above the active one until it takes its place. */
  readonly announced: number;
}

/** Asks every second whether a replay has made other tables the active ones. Tables that another fold has made are of no use here. */
export const generationWatchMachine = setup({
  types: {
    context: {} as Context,
    /** Nobody else can replace the tables of an engine that belongs to this process. */
    input: {} as { readonly generation: number; readonly isShared: boolean },
  },
  actors: {
    look: fromPromise<ActiveGeneration, { readonly announced: number }>(notProvided),
  },
  guards: {
    isShared: ({ context }) => context.isShared,
    is: (_, { found, verdict }: { found: ActiveGeneration; verdict: ActiveGeneration['verdict'] }) =>
      found.verdict === verdict,
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
                guard: { type: 'is', params: ({ event }) => ({ found: event.output, verdict: 'ours' }) },
                target: 'waiting',
                actions: [
                  { type: 'useActive', params: ({ event }) => ({ generation: event.output.generation }) },
                  { type: 'announce', params: ({ event }) => ({ generation: event.output.generation }) },
                ],
              },
              {
                guard: { type: 'is', params: ({ event }) => ({ found: event.output, verdict: 'foreign' }) },
                target: 'waiting',
                actions: [
                  { type: 'reportForeign', params: ({ event }) => ({ generation: event.output.generation }) },
                  { type: 'announce', params: ({ event }) => ({ generation: event.output.generation }) },
                ],
              },
              { target: 'waiting' },
            ],
            // Unavailable at the moment; who needs the database says so in the log.
            onError: 'waiting',
          },
        },
      },
    },
  },
});
