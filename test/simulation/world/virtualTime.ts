import type { InputStreamName } from '../../../actors/messages/subjects.ts';
import { realSetImmediate } from './realTime.ts';
import { createTaskQueue, type Task } from './taskQueue.ts';

/** A process of the simulation. Its scheduled tasks end with it. */
export interface Domain {
  readonly name: string;
  /** A dead process never runs again. The rest of its present turn has no effect. */
  isDead: boolean;
  /** How far its wall clock is ahead. */
  wallAheadMs: number;
  /** A paused process continues at this time. */
  resumesAtMs: number;
  /** Total suspension of its machine, during which its monotonic clock and timers stood still. */
  suspendedMs: number;
  /** Number of earlier versions of each stream's fold; missing means 0. */
  readonly versions: Versions;
  /** Counts of held resources, by kind. */
  readonly held: Map<string, number>;
}

type Versions = Readonly<Partial<Record<InputStreamName, number>>>;

export interface Timer {
  cancel(): void;
}

/** One clock for all processes of a simulation, with the tasks that wait for it. */
export type VirtualTime = ReturnType<typeof createVirtualTime>;

export function createVirtualTime(startMs: number) {
  const queue = createTaskQueue();
  const outside = createDomain('outside', {});
  let asleepMs = 0;
  let now = 0;
  let order = 0;
  let current = outside;
  let versions: Versions = {};

  /** Runs a task in `domain`, by default the running process. */
  function schedule(delayMs: number, run: () => void, domain: Domain = current): Timer {
    return enqueue({ delayMs, domain, run, suspendedMs: null });
  }

  function enqueue({ delayMs, ...rest }: Omit<Task, 'atMs' | 'order' | 'isCancelled'> & { delayMs: number }) {
    const task: Task = { atMs: now + Math.max(0, delayMs), order: order++, isCancelled: false, ...rest };
    if (!task.domain.isDead) queue.push(task);
    return {
      cancel: () => {
        task.isCancelled = true;
      },
    };
  }

  /** Runs the next task; false without one. */
  function runNext(): boolean {
    for (;;) {
      const next = queue.peek();
      if (next === undefined) return false;
      queue.pop();
      if (next.isCancelled || next.domain.isDead) continue;
      now = next.atMs;
      if (next.suspendedMs !== null && next.domain.suspendedMs > next.suspendedMs) {
        next.atMs += next.domain.suspendedMs - next.suspendedMs;
        next.suspendedMs = next.domain.suspendedMs;
        queue.push(next);
        continue;
      }
      if (next.domain.resumesAtMs > now) {
        next.atMs = next.domain.resumesAtMs;
        queue.push(next);
        continue;
      }
      current = next.domain;
      next.run();
      return true;
    }
  }

  /** Runs tasks until `isDone`. All promises settle between two tasks. */
  async function advance(isDone: () => boolean) {
    let hasRun = false;
    await repeatSettled(() => {
      // Promises of the task before have run in its own process.
      current = outside;
      if (hasRun && isDone()) return false;
      hasRun = runNext();
      return hasRun;
    });
  }

  return {
    /** Since the start of the simulation. */
    nowMs: () => now,
    /** Wall clock of the running process. */
    wallMs: () => startMs + now + asleepMs + current.wallAheadMs,
    /** Monotonic clock of the running process. It stands still while its machine is suspended. */
    monotonicMs: () => now - current.suspendedMs,
    /** The running process. */
    get domain(): Domain {
      return current;
    },
    /** The simulation's own parts. */
    outside,
    createDomain: (name: string) => createDomain(name, versions),
    /** Fold versions of a process created now. */
    get versions(): Versions {
      return versions;
    },
    /** Processes created later run the next version of a stream's fold. */
    upgrade: (stream: InputStreamName) => {
      versions = { ...versions, [stream]: (versions[stream] ?? 0) + 1 };
    },
    /** Lets all processes sleep: only wall clocks continue. */
    sleepAll: (ms: number) => {
      asleepMs += ms;
    },
    /** Total time of these sleeps. */
    get asleepMs(): number {
      return asleepMs;
    },
    /** Suspends the machine of a process; others go on. */
    suspend: (domain: Domain, forMs: number) => {
      domain.resumesAtMs = Math.max(domain.resumesAtMs, now + forMs);
      domain.suspendedMs += forMs;
    },
    schedule,
    /** Runs a task in the running process after a time of its monotonic clock. */
    startTimer: (delayMs: number, run: () => void) =>
      enqueue({ delayMs, domain: current, run, suspendedMs: current.suspendedMs }),
    /** Runs a function in another process, inside this turn. */
    within: <Result>(domain: Domain, run: () => Result): Result => {
      const before = current;
      current = domain;
      try {
        return run();
      } finally {
        current = before;
      }
    },
    advance,
  };
}

function createDomain(name: string, versions: Versions): Domain {
  return { name, isDead: false, wallAheadMs: 0, resumesAtMs: 0, suspendedMs: 0, versions, held: new Map() };
}

/** Immediates set at once. One turn of the event loop serves all of them, and costs more than most tasks. */
const immediatesAtOnce = 64;

/** Calls `step` until it returns false. All microtasks and ticks run before each call, because Node.js runs them between two immediates. */
function repeatSettled(step: () => boolean): Promise<void> {
  return new Promise((resolve, reject) => {
    let isOver = false;
    let left = 0;
    const setImmediates = () => {
      left = immediatesAtOnce;
      for (let count = 0; count < immediatesAtOnce; count++) realSetImmediate(run);
    };
    function run() {
      if (isOver) return;
      try {
        isOver = !step();
      } catch (error) {
        isOver = true;
        reject(error);
        return;
      }
      if (isOver) resolve();
      else if (--left === 0) setImmediates();
    }
    setImmediates();
  });
}
