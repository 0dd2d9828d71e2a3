import { bisector } from 'd3-array';
import type { Domain } from './virtualTime.ts';

/** Something that happens at a virtual time. */
export interface Task {
  /** Later for a paused process. */
  atMs: number;
  /** Tasks of the same time run in the order in which they were scheduled. */
  readonly order: number;
  readonly domain: Domain;
  readonly run: () => void;
  /** Total suspension of the process's machine when its timer was set; null for tasks without a timer of the process. */
  suspendedMs: number | null;
  isCancelled: boolean;
}

/** Tasks by time and order. */
export function createTaskQueue() {
  /** The last task first. */
  const queue: Task[] = [];
  const { left: findPlace } = bisector(
    (one: Task, other: Task) => other.atMs - one.atMs || other.order - one.order,
  );
  return {
    push: (task: Task) => {
      queue.splice(findPlace(queue, task), 0, task);
    },
    /** The first task, which stays; undefined if the queue is empty. */
    peek: () => queue.at(-1),
    pop: () => queue.pop(),
  };
}
