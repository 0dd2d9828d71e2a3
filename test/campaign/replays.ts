import { timer } from 'rxjs';
import { whenFinished } from '../support/processes/lifetime.ts';
import { minerCommand, startMinerCommand } from '../support/processes/minerCommand.ts';

/** Always the same command, so that it resumes a killed one. */
const command = ['replay', '--from-sequence', '1'];

/** Rebuilds the stored readings while everything else happens, one replay at a time. */
interface Replays {
  /** Starts a replay unless one runs, and kills it after this time. */
  start(killAfterMs: number): void;
  /** Replays that have swapped their tables in. */
  readonly completed: number;
  readonly killed: number;
  /** Lets the last one end, then runs a complete one. Returns its status and output. */
  complete(): Promise<{ readonly status: number | null; readonly output: string }>;
}

export function createReplays(environment: Record<string, string>): Replays {
  const counts = { completed: 0, killed: 0 };
  let running: Promise<unknown> | null = null;

  async function run(killAfterMs: number) {
    const replay = startMinerCommand(command, environment);
    const killing = timer(killAfterMs).subscribe(() => {
      counts.killed++;
      void replay.end('SIGKILL');
    });
    whenFinished(() => killing.unsubscribe());
    // A replay whose servers are dead says so and ends; the next one resumes.
    if ((await replay.exited) === 0) counts.completed++;
    killing.unsubscribe();
    running = null;
  }

  return {
    start: (killAfterMs) => {
      running ??= run(killAfterMs);
    },
    get completed() {
      return counts.completed;
    },
    get killed() {
      return counts.killed;
    },
    complete: async () => {
      await running;
      // The first one may only resume an earlier one.
      await minerCommand(command, environment);
      return minerCommand(command, environment);
    },
  };
}
