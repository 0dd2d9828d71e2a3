import type { InputStreamName } from '../../../actors/messages/subjects.ts';
import { realSetImmediate } from './realTime.ts';
import { createTaskQueue, type Task } from './taskQueue.ts';

/** A process of the simulation: what it has scheduled goes with it. */
export interface Domain {
  readonly name: string;
  /** A dead one is never run again, and what it still does in this turn has no effect. */
  isDead: boolean;
  /** How far its wall clock is ahead. */
  wallAheadMs: number;
  /** A process that is stopped runs again at this time. */
  resumesAtMs: number;
  /** How long its machine was suspended: its monotonic clock and its timers stood still meanwhile. */
  suspendedMs: number;
  /** How many versions of the fold of each stream came before the one that it runs; none where it is missing. */
  readonly versions: Versions;
  /** What it holds at the moment, by kind. */
  readonly held: Map<string, number>;
}

type Versions = Readonly<Partial<Record<InputStreamName, number>>>;

export interface Timer {
  cancel(): void;
}

/** One clock for all processes of a simulation, and everything that waits for it. */
export interface VirtualTime {
  /** Since the start of the simulation. */
  nowMs(): number;
  /** The wall clock of the process that runs at the moment. */
  wallMs(): number;
  /** Its monotonic clock, which stands still while its machine is suspended. */
  monotonicMs(): number;
  /** The process that runs at the moment. */
  readonly domain: Domain;
  /** The parts that the simulation itself consists of. */
  readonly outside: Domain;
  createDomain(name: string): Domain;
  /** Versions of the folds of a process that is created now. */
  readonly versions: Versions;
  /** Processes that are created from now on run the next version of the fold of a stream. */
  upgrade(stream: InputStreamName): void;
  /** All processes of the machine are asleep for so long: wall clocks go on, and no other. */
  sleepAll(ms: number): void;
  /** How long they were, in all. */
  readonly asleepMs: number;
  /** Suspends the machine of a process; others go on. */
  suspend(domain: Domain, forMs: number): void;
  /** Runs in `domain`, or in the one that runs at the moment. */
  schedule(delayMs: number, run: () => void, domain?: Domain): Timer;
  /** Runs in the process that runs at the moment, after a time of its monotonic clock. */
  startTimer(delayMs: number, run: () => void): Timer;
  /** Runs in another process now, inside this turn. */
  within<Result>(domain: Domain, run: () => Result): Result;
  /** Runs what is due until a time, or until `isDone`; every promise that can be settled is, between two tasks. */
  advanceTo(atMs: number, isDone?: () => boolean): Promise<void>;
  /** Tasks that were run. */
  readonly turns: number;
  readonly waiting: number;
}

export function createVirtualTime(startMs: number): VirtualTime {
  const queue = createTaskQueue();
  const outside = createDomain('outside', {});
  let asleepMs = 0;
  let now = 0;
  let order = 0;
  let turns = 0;
  let current = outside;
  let versions: Versions = {};

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

  /** Runs the next task that is due by then, where there is one. */
  function runNext(atMs: number): boolean {
    for (;;) {
      const next = queue.peek();
      if (next === undefined || next.atMs > atMs) return false;
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
      turns++;
      next.run();
      return true;
    }
  }

  async function advanceTo(atMs: number, isDone: () => boolean = () => false) {
    let hasRun = false;
    await repeatSettled(() => {
      // What the task before has settled belonged to its process.
      current = outside;
      if (hasRun && isDone()) return false;
      hasRun = runNext(atMs);
      if (!hasRun) now = Math.max(now, atMs);
      return hasRun;
    });
  }

  return {
    nowMs: () => now,
    wallMs: () => startMs + now + asleepMs + current.wallAheadMs,
    monotonicMs: () => now - current.suspendedMs,
    get domain() {
      return current;
    },
    outside,
    createDomain: (name) => createDomain(name, versions),
    get versions() {
      return versions;
    },
    upgrade: (stream) => {
      versions = { ...versions, [stream]: (versions[stream] ?? 0) + 1 };
    },
    sleepAll: (ms) => {
      asleepMs += ms;
    },
    get asleepMs() {
      return asleepMs;
    },
    suspend: (domain, forMs) => {
      domain.resumesAtMs = Math.max(domain.resumesAtMs, now + forMs);
      domain.suspendedMs += forMs;
    },
    schedule,
    startTimer: (delayMs, run) =>
      enqueue({ delayMs, domain: current, run, suspendedMs: current.suspendedMs }),
    within: (domain, run) => {
      const before = current;
      current = domain;
      try {
        return run();
      } finally {
        current = before;
      }
    },
    advanceTo,
    get turns() {
      return turns;
    },
    get waiting() {
      return queue.size;
    },
  };
}

function createDomain(name: string, versions: Versions): Domain {
  return { name, isDead: false, wallAheadMs: 0, resumesAtMs: 0, suspendedMs: 0, versions, held: new Map() };
}

/** So many immediates are set at once: the event loop turns once for all of them, and it takes longer than most tasks. */
const immediatesAtOnce = 64;

/** Calls `step` until it says false. All microtasks and ticks have run before each call: Node.js runs them between two immediates. */
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
