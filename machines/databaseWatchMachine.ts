import { fromPromise, setup } from 'xstate';
import { notProvided } from './notProvided.ts';

const intervalMs = 2_000;
/** A database that takes longer than this to answer counts as unavailable. */
const answerMs = 1_500;

const ask = 'ask';
const retrying = {
  asking: {
    invoke: { src: ask, onDone: '#databaseWatch.reachable', onError: 'waiting' },
    after: { answer: 'waiting' },
  },
  waiting: { after: { interval: 'asking' } },
} as const;

/**
 * Watches whether the database answers, and whether it has been silent for longer than the delay `grace`. It logs nothing: the parts that
 * use the database log their own failures.
 */
export const databaseWatchMachine = setup({
  types: {} as { tags: 'reachable' | 'withinGrace' },
  actors: {
    ask: fromPromise<void>(notProvided),
  },
  delays: { interval: intervalMs, answer: answerMs, grace: 0 },
}).createMachine({
  id: 'databaseWatch',
  initial: 'unavailable',
  states: {
    unavailable: {
      meta: { isRoutineInside: true },
      initial: 'asking',
      states: retrying,
    },
    lost: {
      meta: { isRoutineInside: true },
      tags: 'withinGrace',
      after: { grace: 'unavailable' },
      initial: 'waiting',
      states: retrying,
    },
    reachable: {
      meta: { isRoutineInside: true },
      tags: ['reachable', 'withinGrace'],
      initial: 'waiting',
      states: {
        waiting: { after: { interval: 'asking' } },
        asking: {
          invoke: { src: ask, onDone: 'waiting', onError: '#databaseWatch.lost' },
          after: { answer: '#databaseWatch.lost' },
        },
      },
    },
  },
});
