import { type ChildProcess, type SpawnOptions, spawn } from 'node:child_process';
import { EventEmitter, once } from 'node:events';
import { existsSync } from 'node:fs';
import { eventually, waitMaxMs, whenFinished } from './lifetime.ts';

/** A process that a test started. It ends with the test at the latest. */
export interface TestProcess {
  readonly child: ChildProcess;
  readonly pid: number;
  /** Everything written to its output and error streams. */
  output(): string;
  /** Resolves as soon as it has written `text`. Rejects if it ends before, or does not write it in time. */
  written(text: string): Promise<void>;
  /** Sends the signal and waits until the process is gone. */
  end(signal: NodeJS.Signals): Promise<number | null>;
  readonly exited: Promise<number | null>;
}

/** Arguments with which Linux kills a process once its parent has ended, even by a signal. */
const tie = existsSync('/usr/bin/setpriv') ? ['/usr/bin/setpriv', '--pdeathsig', 'KILL', '--'] : [];

/** Starts a process that does not outlive this one. */
export function spawnTied(command: string, args: readonly string[], options: SpawnOptions): ChildProcess {
  const [program = command, ...rest] = [...tie, command, ...args];
  return spawn(program, rest, options);
}

export function startProcess(
  command: string,
  args: readonly string[],
  options: SpawnOptions = {},
): TestProcess {
  const child = spawnTied(command, args, { stdio: ['ignore', 'pipe', 'pipe'], ...options });
  let output = '';
  const written = new EventEmitter().setMaxListeners(0);
  for (const stream of [child.stdout, child.stderr]) {
    stream?.on('data', (chunk) => {
      output += chunk;
      written.emit('more');
    });
  }
  const exited = once(child, 'exit').then(([code]) => code as number | null);
  const isRunning = () => child.exitCode === null && child.signalCode === null;
  const end = async (signal: NodeJS.Signals) => {
    if (isRunning()) child.kill(signal);
    return exited;
  };
  whenFinished(async () => {
    await end('SIGKILL');
  });
  const waitFor = async (text: string) => {
    const hasEnded = exited.then(() => 'ended');
    const isLate = new Promise<string>((resolve) => {
      setTimeout(resolve, waitMaxMs, `went on for ${waitMaxMs} ms`).unref();
    });
    while (!output.includes(text)) {
      const more = once(written, 'more').then(() => null);
      const what = await Promise.race([more, hasEnded, isLate]);
      if (what !== null && !output.includes(text))
        throw new Error(`${command} ${what} without writing "${text}": ${output}`);
    }
  };
  if (child.pid === undefined) throw new Error(`${command} did not start`);
  return { child, pid: child.pid, output: () => output, written: waitFor, end, exited };
}

/** A server that a test can kill and restart with the same ports and directory. */
export interface RestartableServer {
  kill(signal?: NodeJS.Signals): Promise<void>;
  start(): Promise<void>;
}

/** @param run starts the server, and resolves once it answers. */
export async function startRestartable(run: () => Promise<TestProcess>): Promise<RestartableServer> {
  let server = await run();
  return {
    kill: async (signal = 'SIGKILL') => {
      await server.end(signal);
    },
    start: async () => {
      server = await run();
    },
  };
}

/**
 * Waits until a server answers.
 *
 * @param describe returns other logs of the server, for the error.
 * @throws Error with the server's output as soon as it has ended.
 */
export async function untilReady(
  server: TestProcess,
  probe: () => Promise<unknown>,
  what: string,
  describe: () => string = () => '',
): Promise<void> {
  const answered = await eventually(async () => {
    if (server.child.exitCode !== null || server.child.signalCode !== null) return 'ended';
    return (await probe()) ? 'ready' : null;
  }, what);
  if (answered === 'ended') throw new Error(`${what} has ended: ${server.output()}${describe()}`);
}
