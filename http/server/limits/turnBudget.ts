import type { Clock } from '../../../actors/clock.ts';

/** Time for expensive requests in one turn of the event loop. No cheap request waits for them much longer. */
export const expensiveMsPerTurn = 10;

/**
 * Shares the event loop between expensive and cheap requests. Between two turns it serves what has arrived, so a hundred expensive requests do
 * not all delay the next cheap one.
 */
export function createTurnBudget(clock: Clock) {
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
    /** Whether a task would wait. */
    isSpent,
    /** Runs a task now if this turn has time for it, else in a later turn, in order. The caller bounds the number of waiting tasks. */
    run: (task: () => void) => {
      if (isSpent()) waiting.push(task);
      else execute(task);
    },
  };
}
