import { type ChildProcess, execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Logger } from 'pino';
import { filter, firstValueFrom, interval, timer } from 'rxjs';

const pollMs = 50;

/** Path of an installed server, from PATH or the folders of system packages; null if it is not installed. */
export function findServer(name: string): string | null {
  const folders = [
    ...(process.env.PATH ?? '').split(':'),
    '/usr/sbin',
    '/usr/local/sbin',
    '/opt/homebrew/bin',
  ];
  return folders.map((folder) => join(folder, name)).find((path) => existsSync(path)) ?? null;
}

/** Part of util-linux, which every Linux distribution for servers has. */
const setpriv = ['/usr/bin/setpriv', '/bin/setpriv'].find((path) => existsSync(path));

/**
 * Wraps a command so that the kernel ends its process with its parent, also after kill -9 (Linux). Elsewhere the command stays
 * unchanged.
 *
 * @returns the program and its arguments.
 */
export function bindToParent(program: string, args: readonly string[]): [program: string, args: string[]] {
  if (process.platform !== 'linux' || setpriv === undefined) return [program, [...args]];
  return [setpriv, ['--pdeathsig', 'TERM', program, ...args]];
}

interface OrphanSettings {
  readonly pidFile: string;
  /** A part of the command line that no other process has, such as the path of its configuration. */
  readonly mark: string;
  readonly stopMs: number;
  readonly logger: Logger;
}

/** Stops a server that survived a kill -9 of this program and still holds its data, by its process ID. */
export async function stopOrphan({ pidFile, mark, stopMs, logger }: OrphanSettings): Promise<void> {
  if (!existsSync(pidFile)) return;
  const pid = Number(readFileSync(pidFile, 'utf8').trim());
  if (!isMarked(pid, mark)) return;
  logger.warn({ pid, mark }, 'a server of an earlier run is still running; stopping it');
  process.kill(pid, 'SIGTERM');
  const ending = timer(stopMs).subscribe(() => {
    if (isMarked(pid, mark)) process.kill(pid, 'SIGKILL');
  });
  // It is not a child of this process, so its end causes no event. While it ends, it has no command line but may still hold its port.
  const hasEnded = () => {
    const commandLine = readCommandLine(pid);
    return commandLine === null || (commandLine !== '' && !commandLine.includes(mark));
  };
  await firstValueFrom(interval(pollMs).pipe(filter(hasEnded)));
  ending.unsubscribe();
}

/** Asks a child to end, and kills it if it does not. */
export async function endProcess(child: ChildProcess, stopMs: number): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const exited = once(child, 'exit');
  child.kill('SIGTERM');
  const timer = setTimeout(() => child.kill('SIGKILL'), stopMs);
  await exited;
  clearTimeout(timer);
}

function isMarked(pid: number, mark: string): boolean {
  return readCommandLine(pid)?.includes(mark) ?? false;
}

/** Null if the process has ended; empty while it ends. */
function readCommandLine(pid: number): string | null {
  if (!Number.isInteger(pid) || pid <= 0) return null;
  try {
    if (!existsSync('/proc/self/cmdline'))
      return execFileSync('ps', ['-o', 'command=', '-p', String(pid)], { encoding: 'utf8' });
    // An ended process stays visible until its parent notices the end.
    if (/^State:\s+Z/m.test(readFileSync(`/proc/${pid}/status`, 'utf8'))) return null;
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ');
  } catch {
    return null;
  }
}
