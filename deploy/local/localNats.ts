import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { existsSync, mkdirSync, openSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import type { Logger } from 'pino';
import { filter, firstValueFrom, fromEvent, interval, map, merge, race, takeUntil, timer } from 'rxjs';
import { lockDirectory } from '../../storage/directoryLock.ts';
import { retryUntilAvailable } from '../../streams/operators/retryUntilAvailable.ts';
import { whenAborted } from '../../streams/operators/whenAborted.ts';
import { bindToParent } from './bindToParent.ts';
import { endProcess, stopOrphan } from './childServer.ts';

const startMs = 15_000;
const pollMs = 50;
/** Delay before a server that ended by itself is restarted: one that ends at once must not occupy a core. */
const restartAfterMs = 250;
/** JetStream takes a moment to close its files; those not closed by then are recovered at the next start. */
const stopMs = 1_000;

/** The local nats-server could not be started. */
export class LocalNatsError extends Error {
  override readonly name = 'LocalNatsError';
}

/** A nats-server of our own, as a child process. */
export interface LocalNats {
  readonly url: string;
  pid(): number | null;
  stop(): Promise<void>;
}

export interface LocalNatsSettings {
  /** Folder of its store, configuration, log and ports file. */
  readonly dir: string;
  readonly logger: Logger;
}

/**
 * Starts nats-server with JetStream on a free port of the loopback interface. It is not in the terminal's process
 * group, so Ctrl-C reaches this process alone, which stops it last. When it ends by itself it is restarted with
 * the same port and data.
 *
 * @throws LocalNatsError
 * @throws DirectoryInUse when another process has its server there.
 */
export async function startLocalNats({ dir, logger }: LocalNatsSettings): Promise<LocalNats> {
  mkdirSync(dir, { recursive: true });
  const program = findNatsServer();
  const syncSetting = chooseSyncSetting(program);
  const unlock = lockDirectory(dir);
  await stopOrphan({ pidFile: join(dir, 'nats.pid'), mark: join(dir, 'nats.conf'), stopMs, logger });

  let child: ChildProcess = spawnServer(program, configure(dir, -1, syncSetting), dir);
  const url = await waitForUrl(child, dir);
  const port = Number(new URL(url).port);
  const stopping = new AbortController();
  const { signal } = stopping;
  let restarting: Promise<void> = Promise.resolve();
  logger.info(
    { url, pid: child.pid, sync: syncSetting ?? 'every two minutes (this version has no setting)' },
    'nats-server started',
  );

  const watch = (watched: ChildProcess) => {
    watched.once('exit', (code, killedBy) => {
      if (signal.aborted) return;
      logger.error({ code, signal: killedBy }, 'nats-server ended by itself; restarting it');
      restarting = restart();
    });
  };

  const restart = async () => {
    await firstValueFrom(race(timer(restartAfterMs), whenAborted(signal)));
    if (signal.aborted) return;
    const onFailure = (error: unknown) =>
      logger.error({ err: error }, 'nats-server does not start; retrying');
    await retryUntilAvailable(startAgain, { signal, onFailure }).catch(() => undefined); // It is being stopped.
  };

  const startAgain = async () => {
    const started = spawnServer(program, configure(dir, port, syncSetting), dir);
    child = started;
    await waitForUrl(started, dir).catch((error: unknown) => {
      started.kill('SIGKILL');
      throw error;
    });
    watch(started);
    logger.info({ url, pid: started.pid }, 'nats-server restarted');
  };
  watch(child);

  return {
    url,
    pid: () => child.pid ?? null,
    stop: async () => {
      stopping.abort();
      await restarting;
      await endProcess(child, stopMs);
      rmSync(join(dir, 'nats.pid'), { force: true });
      unlock();
    },
  };
}

/** Where nats-server is installed: on PATH, or where system packages put servers. */
export function findNatsServer(): string {
  const folders = [
    ...(process.env.PATH ?? '').split(':'),
    '/usr/sbin',
    '/usr/local/sbin',
    '/opt/homebrew/bin',
  ];
  const program = folders.map((folder) => join(folder, 'nats-server')).find((path) => existsSync(path));
  if (program !== undefined) return program;
  throw new LocalNatsError(
    'nats-server is not installed. Install it (Debian, Ubuntu: apt-get install nats-server; macOS: brew install ' +
      'nats-server), or set MINER_NATS_URL to a server with JetStream.',
  );
}

/** From 2.10 on, each write is synced before it is acknowledged; older versions refuse the setting. */
function chooseSyncSetting(program: string): string | null {
  const [, major = '0', minor = '0'] =
    /v(\d+)\.(\d+)/.exec(execFileSync(program, ['--version'], { encoding: 'utf8' })) ?? [];
  return Number(major) > 2 || Number(minor) >= 10 ? 'always' : null;
}

function configure(dir: string, port: number, syncSetting: string | null): string {
  const path = join(dir, 'nats.conf');
  const quoted = (file: string) => JSON.stringify(resolve(dir, file));
  writeFileSync(
    path,
    [
      'host: "127.0.0.1"',
      `port: ${port}`,
      `pid_file: ${quoted('nats.pid')}`,
      `ports_file_dir: ${quoted('.')}`,
      `log_file: ${quoted('nats.log')}`,
      'log_size_limit: 16777216',
      'jetstream {',
      `  store_dir: ${quoted('store')}`,
      '  max_memory_store: 67108864',
      '  max_file_store: 1099511627776',
      ...(syncSetting === null ? [] : [`  sync_interval: ${syncSetting}`]),
      '}',
      '',
    ].join('\n'),
  );
  return path;
}

function spawnServer(program: string, configuration: string, dir: string): ChildProcess {
  const errors = openSync(join(dir, 'nats.err'), 'a');
  const command = bindToParent(program, ['-c', configuration]);
  return spawn(...command, { detached: true, stdio: ['ignore', errors, errors] });
}

/** Waits for the ports file of this very process, so that no other server can be meant. */
async function waitForUrl(child: ChildProcess, dir: string): Promise<string> {
  const file = join(dir, `nats-server_${child.pid}.ports`);
  const url$ = interval(pollMs).pipe(
    map(() => readUrl(file)),
    filter((url) => url !== null),
    takeUntil(merge(timer(startMs), fromEvent(child, 'exit'))),
  );
  const url = await firstValueFrom(url$, { defaultValue: null });
  if (url !== null) return url;
  throw new LocalNatsError(
    `nats-server did not start; see ${join(dir, 'nats.log')} and ${join(dir, 'nats.err')}`,
  );
}

/** Address of the server of a service that runs beside this process, by its folder; null where none does. */
export function findLocalNats(dir: string): string | null {
  const pidFile = join(dir, 'nats.pid');
  if (!existsSync(pidFile)) return null;
  return readUrl(join(dir, `nats-server_${readFileSync(pidFile, 'utf8').trim()}.ports`));
}

/** Null while the server has not written it. */
function readUrl(portsFile: string): string | null {
  if (!existsSync(portsFile)) return null;
  const text = readFileSync(portsFile, 'utf8');
  return text === '' ? null : ((JSON.parse(text) as { nats?: string[] }).nats?.[0] ?? null);
}
