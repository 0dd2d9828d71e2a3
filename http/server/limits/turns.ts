import type { Clock } from '../../../actors/clock.ts';

/** Work that costs much more than a polled view. It is dropped once nobody waits for it. */
interface Task {
  readonly isOver: () => boolean;
  readonly run: () => void;
}

export type Turns = ReturnType<typeof createTurns>;

/**
 * Shares the event loop between expensive and cheap work: each turn runs one task, with what the task continues at once. Between two turns the loop
 * serves what has arrived, so no cheap request waits for more than one task.
 */
export function createTurns({ monotonicMs }: Pick<Clock, 'monotonicMs'>) {
  const waiting: (Task & { readonly sinceMs: number })[] = [];
  let isTaken = false;

  function take(task: Task) {
    isTaken = true;
    setImmediate(beginTurn);
    task.run();
  }

  function beginTurn() {
    isTaken = false;
    let next = waiting.shift();
    while (next?.isOver()) next = waiting.shift();
    if (next !== undefined) take(next);
  }

  return {
    /** Runs a task now if this turn has not had one, else in a later turn, in order. The caller bounds their number. */
    take: (task: Task) => {
      if (isTaken) waiting.push({ ...task, sinceMs: monotonicMs() });
      else take(task);
    },
    /** How long the next task has waited for its turn. */
    waitedMs: () => (waiting[0] === undefined ? 0 : monotonicMs() - waiting[0].sinceMs),
  };
}
