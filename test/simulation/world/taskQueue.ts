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

/** Tasks by time and order: a binary heap. */
export function createTaskQueue() {
  const heap: Task[] = [];
  const isBefore = (one: Task, other: Task) =>
    one.atMs < other.atMs || (one.atMs === other.atMs && one.order < other.order);

  function siftUp(from: number) {
    const task = heap[from] as Task;
    let at = from;
    while (at > 0) {
      const above = (at - 1) >> 1;
      const parent = heap[above] as Task;
      if (!isBefore(task, parent)) break;
      heap[at] = parent;
      at = above;
    }
    heap[at] = task;
  }

  function siftDown() {
    const task = heap[0] as Task;
    let at = 0;
    for (;;) {
      const left = at * 2 + 1;
      if (left >= heap.length) break;
      const right = left + 1;
      const isRight = right < heap.length && isBefore(heap[right] as Task, heap[left] as Task);
      const child = isRight ? right : left;
      if (!isBefore(heap[child] as Task, task)) break;
      heap[at] = heap[child] as Task;
      at = child;
    }
    heap[at] = task;
  }

  return {
    push: (task: Task) => {
      heap.push(task);
      siftUp(heap.length - 1);
    },
    /** The first task, which stays; undefined if the queue is empty. */
    peek: () => heap[0],
    pop: () => {
      const first = heap[0];
      const last = heap.pop();
      if (first === undefined || last === undefined || first === last) return first;
      heap[0] = last;
      siftDown();
      return first;
    },
  };
}
