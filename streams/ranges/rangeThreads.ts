import { Worker } from 'node:worker_threads';
import type { NatsAccess } from '../jetstream/natsAccess.ts';
import type { FoldRangeOptions, RangeResult } from './foldRange.ts';
import type { MessageRange } from './messageRange.ts';

/** What a thread folds with. Plain data. */
export interface RangeThreadSettings
  extends Pick<FoldRangeOptions, 'genesisMs' | 'publicInstallationId' | 'subject'> {
  readonly nats: NatsAccess;
}

/** A thread exited without being stopped: a fault of the program, or not enough memory. */
export class RangeThreadFailed extends Error {
  override readonly name = 'RangeThreadFailed';
}

/** Threads that fold ranges, each of them one at a time. */
export interface RangeThreads {
  /**
   * Folds a range as soon as a thread is free; null where it cannot be folded apart.
   *
   * @throws RangeThreadFailed
   */
  fold(range: MessageRange): Promise<RangeResult | null>;
  /** Ends them where they are. */
  stop(): Promise<void>;
}

export interface RangeThreadsOptions {
  readonly count: number;
  /** The built `rangeThread.ts`. */
  readonly program: URL;
  /** Data of each thread. */
  readonly settings: unknown;
}

interface Task {
  readonly range: MessageRange;
  readonly resolve: (result: RangeResult | null) => void;
  readonly reject: (error: unknown) => void;
}

export function createRangeThreads({ count, program, settings }: RangeThreadsOptions): RangeThreads {
  const idle: Worker[] = [];
  const waiting: Task[] = [];
  const running = new Map<Worker, Task>();
  let failure: RangeThreadFailed | null = null;
  let isStopped = false;

  function startNext() {
    const [thread, task] = [idle[0], waiting[0]];
    if (thread === undefined || task === undefined) return;
    idle.shift();
    waiting.shift();
    running.set(thread, task);
    thread.postMessage(task.range);
  }

  function fail(detail: string, cause?: unknown) {
    if (isStopped) return;
    failure ??= new RangeThreadFailed(`a thread of the replay has failed: ${detail}`, { cause });
    for (const { reject } of [...running.values(), ...waiting.splice(0)]) reject(failure);
    running.clear();
  }

  function start(): Worker {
    const thread = new Worker(program, { workerData: settings });
    thread.on('message', (result: RangeResult | null) => {
      running.get(thread)?.resolve(result);
      running.delete(thread);
      idle.push(thread);
      startNext();
    });
    thread.on('error', (error) => fail(error.message, error));
    thread.on('exit', (status) => fail(`it has ended with status ${status}`));
    return thread;
  }

  const threads = Array.from({ length: count }, start);
  idle.push(...threads);
  return {
    fold: (range) =>
      new Promise((resolve, reject) => {
        if (failure !== null) return reject(failure);
        waiting.push({ range, resolve, reject });
        startNext();
      }),
    stop: async () => {
      isStopped = true;
      await Promise.all(threads.map((thread) => thread.terminate()));
    },
  };
}
