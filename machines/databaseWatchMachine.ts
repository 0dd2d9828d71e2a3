import { fromPromise, setup } from 'xstate';
import { notProvided } from './notProvided.ts';

/** Between two checks. */
const intervalMs = 2_000;
/** A database that takes longer to answer is unavailable. */
const answerMs = 1_500;

/** Whether the database answers. What needs the database logs its own failures; this only reports the state. */
export const databaseWatchMachine = setup({
  types: { tags: {} as 'reachable' },
  actors: {
    ask: fromPromise<void>(notProvided),
  },
  delays: { interval: intervalMs, answer: answerMs },
}).createMachine({
  id: 'databaseWatch',
  initial: 'unavailable',
  states: {
    unavailable: {
      meta: { isRoutineInside: true },
      initial: 'asking',
      states: {
        asking: {
          invoke: { src: 'ask', onDone: '#databaseWatch.reachable', onError: 'waiting' },
          after: { answer: 'waiting' },
        },
        waiting: { after: { interval: 'asking' } },
      },
    },
    reachable: {
      meta: { isRoutineInside: true },
      tags: 'reachable',
      initial: 'waiting',
      states: {
        waiting: { after: { interval: 'asking' } },
        asking: {
          invoke: { src: 'ask', onDone: 'waiting', onError: '#databaseWatch.unavailable.waiting' },
          after: { answer: '#databaseWatch.unavailable.waiting' },
        },
      },
    },
  },
});
