import { timer } from 'rxjs';
import { whenFinished } from '../support/processes/lifetime.ts';
import { minerCommand, startMinerCommand } from '../support/processes/minerCommand.ts';

/** Each is the same command, so that it resumes one that was killed. */
const command = ['replay', '--from-sequence', '1'];

/** Rebuilds what is stored of the readings while everything else happens, one replay at a time. */
interface Replays {
  /** Starts one unless one runs, and kills it after so long. */
  start(killAfterMs: number): void;
  /** Those that have put their tables in the place of the active ones. */
  readonly completed: number;
  readonly killed: number;
  /** Lets the last one end, and runs one from beginning to end; what it says. */
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
    // One that finds its servers dead says so and ends; the next one resumes.
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
      // The first one may only resume what an earlier one has begun.
      await minerCommand(command, environment);
      return minerCommand(command, environment);
    },
  };
}
