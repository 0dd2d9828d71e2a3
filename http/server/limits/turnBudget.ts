import type { Clock } from '../../../actors/clock.ts';

/** Time of one turn of the event loop for expensive requests: a request that costs little waits for so long at most. */
export const expensiveMsPerTurn = 10;

/** Shares the event loop between what costs much and what costs little. */
export interface TurnBudget {
  /** Runs a task now where this turn has time for it, else in a later one, in order. Whoever calls bounds how many wait. */
  run(task: () => void): void;
  /** Whether a task would wait. */
  isSpent(): boolean;
}

/** Between two turns what has arrived is served: a hundred expensive requests that arrive together do not delay the next cheap one by all their time. */
export function createTurnBudget(clock: Clock): TurnBudget {
  const waiting: (() => void)[] = [];
  let spentMs = 0;
  let isScheduled = false;

  function execute(task: () => void) {
    const startedMs = clock.monotonicMs();
    try {
      task();
    } finally {
      spentMs += clock.monotonicMs() - startedMs;
      scheduleNext();
    }
  }

  function scheduleNext() {
    if (isScheduled) return;
    isScheduled = true;
    setImmediate(beginTurn);
  }

  function beginTurn() {
    isScheduled = false;
    spentMs = 0;
    while (waiting.length > 0 && spentMs < expensiveMsPerTurn) execute(waiting.shift() as () => void);
  }

  const isSpent = () => waiting.length > 0 || spentMs >= expensiveMsPerTurn;
  return {
    isSpent,
    run: (task) => {
      if (isSpent()) waiting.push(task);
      else execute(task);
    },
  };
}
