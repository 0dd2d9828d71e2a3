import { readdirSync } from 'node:fs';
import { constants, getPriority, setPriority } from 'node:os';

const nicerBy = 15;

/**
 * Makes all other threads of the process nicer, so that this one, its first, need not wait for them where cores are scarce. Threads that they
 * start inherit it. Only Linux has such priorities; anywhere else nothing happens.
 */
export function preferThisThread(): void {
  const priority = Math.min(getPriority() + nicerBy, constants.priority.PRIORITY_LOW);
  for (const thread of listThreads()) {
    if (thread === process.pid) continue;
    try {
      setPriority(thread, priority);
    } catch {
      // The thread has ended, or a sandbox forbids it: then answers take longer on a busy machine, and nothing else.
    }
  }
}

function listThreads(): number[] {
  try {
    return readdirSync('/proc/self/task').map(Number);
  } catch {
    return [];
  }
}
