import { type ChildProcess, type SpawnOptions, spawn } from 'node:child_process';
import { EventEmitter, once } from 'node:events';
import { whenFinished } from './lifetime.ts';

/** A process that a test started; it ends with the test at the latest. */
export interface TestProcess {
  readonly child: ChildProcess;
  readonly pid: number;
  /** Everything that it has written to its output and error streams. */
  output(): string;
  /** Resolves as soon as it has written `text`; fails when it ends without. */
  written(text: string): Promise<void>;
  /** Sends the signal and waits until the process is gone. */
  end(signal: NodeJS.Signals): Promise<number | null>;
  readonly exited: Promise<number | null>;
}

export function startProcess(
  command: string,
  args: readonly string[],
  options: SpawnOptions = {},
): TestProcess {
  const child = spawn(command, args, { stdio: ['ignore', 'pipe', 'pipe'], ...options });
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
    const hasEnded = exited.then(() => true);
    while (!output.includes(text)) {
      const more = once(written, 'more').then(() => false);
      if ((await Promise.race([more, hasEnded])) && !output.includes(text))
        throw new Error(`${command} ended without writing "${text}": ${output}`);
    }
  };
  if (child.pid === undefined) throw new Error(`${command} did not start`);
  return { child, pid: child.pid, output: () => output, written: waitFor, end, exited };
}

/** A server that a test can kill and start again on its ports and directory. */
export interface RestartableServer {
  readonly pid: number;
  kill(signal?: NodeJS.Signals): Promise<void>;
  start(): Promise<void>;
}

/** @param run starts it and resolves once it answers. */
export async function startRestartable(run: () => Promise<TestProcess>): Promise<RestartableServer> {
  let server = await run();
  return {
    get pid() {
      return server.pid;
    },
    kill: async (signal = 'SIGKILL') => {
      await server.end(signal);
    },
    start: async () => {
      server = await run();
    },
  };
}

/** Between two questions: a tenth of the time that was waited so far, so that waiting takes little from what is waited for. */
const [leastPauseMs, longestPauseMs] = [20, 250];

/**
 * Asks again and again until `probe` answers with something; fails with what it said last. The limit only ends what will never happen: a machine
 * that is busy with other work may take many times as long as a quiet one.
 */
export async function eventually<Value>(
  probe: () => Promise<Value | null | undefined | false> | Value | null | undefined | false,
  what: string,
  timeoutMs = 120_000,
): Promise<Value> {
  const startedMs = performance.now();
  let last: unknown = null;
  for (let waitedMs = 0; waitedMs < timeoutMs; waitedMs = performance.now() - startedMs) {
    try {
      const value = await probe();
      if (value !== null && value !== undefined && value !== false) return value;
      last = value;
    } catch (error) {
      last = error;
    }
    const pauseMs = Math.min(Math.max(waitedMs / 10, leastPauseMs), longestPauseMs);
    await new Promise((resolve) => setTimeout(resolve, pauseMs));
  }
  throw new Error(`${what} did not happen: ${String(last)}`);
}

/**
 * Waits until a server answers.
 *
 * @param describe what it has logged elsewhere, for the error.
 * @throws Error with what it has written, as soon as it has ended.
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
