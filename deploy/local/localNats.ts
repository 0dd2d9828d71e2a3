import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { chmodSync, closeSync, existsSync, openSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import type { Logger } from 'pino';
import { filter, firstValueFrom, fromEvent, interval, map, merge, race, takeUntil, timer } from 'rxjs';
import { z } from 'zod';
import { OperatorError } from '../../actors/operatorError.ts';
import { lockDirectory } from '../../storage/clickhouse/directoryLock.ts';
import { createPrivateDirectory } from '../../storage/clickhouse/privateDirectory.ts';
import type { NatsAccess } from '../../streams/nats/natsAccess.ts';
import { retryUntilAvailable } from '../../streams/operators/retryUntilAvailable.ts';
import { whenAborted } from '../../streams/operators/whenAborted.ts';
import { isPortFree } from '../process/freePorts.ts';
import { bindToParent, endProcess, findServer, stopOrphan } from './childServer.ts';

/** Exists while the server runs. */
const urlFileName = 'url';
/** Port and token for the next start. */
const accessFileName = 'access';
const startMs = 15_000;
const pollMs = 50;
/** Delay before the restart of a server that ended by itself, so that one that ends at once does not occupy a core. */
const restartAfterMs = 250;
/** JetStream takes a moment to close its files; the next start recovers the others. */
const stopMs = 1_000;

export type LocalNats = Awaited<ReturnType<typeof startLocalNats>>;

interface LocalNatsSettings {
  /** Folder of its store, configuration, log and ports file. */
  readonly dir: string;
  readonly logger: Logger;
}

/**
 * Starts nats-server with JetStream on loopback. Other users of this machine reach it too, so it asks for a token. Port and token stay the same from
 * start to start, unless another program has taken the port. It is not in the terminal's process group, so Ctrl-C reaches only this process, which stops
 * it last. If it ends by itself, it is restarted with the same port, token and data.
 *
 * @throws OperatorError
 * @throws DirectoryInUse if another process has its server there.
 */
export async function startLocalNats({ dir: folder, logger }: LocalNatsSettings) {
  // The absolute path, as in the server's arguments, so that no other folder's server is taken for this one.
  const dir = resolve(folder);
  createPrivateDirectory(dir);
  const program = findNatsServer();
  const syncSetting = chooseSyncSetting(program);
  const unlock = lockDirectory(dir);
  await stopOrphan({ pidFile: join(dir, 'nats.pid'), mark: join(dir, 'nats.conf'), stopMs, logger });

  const { port: lastPort, token } = await readLastAccess(join(dir, accessFileName));
  const settings = { syncSetting, token };
  let child: ChildProcess = spawnServer(program, configure(dir, lastPort, settings), dir);
  const address = await waitForAddress(child, dir);
  const { port } = new URL(address);
  writePrivately(join(dir, accessFileName), `${port} ${token}\n`);
  const url = `nats://${token}@127.0.0.1:${port}`;
  const urlFile = join(dir, urlFileName);
  writePrivately(urlFile, `${url}\n`);
  const stopping = new AbortController();
  const { signal } = stopping;
  let restarting: Promise<void> = Promise.resolve();
  logger.info(
    { url: address, pid: child.pid, sync: syncSetting ?? 'every two minutes (this version has no setting)' },
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
    const onFirstFailure = (error: unknown) =>
      logger.error({ err: error }, 'nats-server does not start; retrying');
    await retryUntilAvailable(startAgain, { signal, onFirstFailure }).catch(() => undefined); // It is being stopped.
  };

  const startAgain = async () => {
    const started = spawnServer(program, configure(dir, Number(port), settings), dir);
    child = started;
    await waitForAddress(started, dir).catch((error: unknown) => {
      started.kill('SIGKILL');
      throw error;
    });
    watch(started);
    logger.info({ url: address, pid: started.pid }, 'nats-server restarted');
  };
  watch(child);

  return {
    url,
    /** Without the token. */
    address,
    /** File that holds the URL while the server runs; only this user may read it. */
    urlFile,
    stop: async () => {
      stopping.abort();
      await restarting;
      await endProcess(child, stopMs);
      for (const file of [join(dir, 'nats.pid'), urlFile]) rmSync(file, { force: true });
      unlock();
    },
  };
}

/** Port and token of the last start; without one any free port (-1) and a new token. */
async function readLastAccess(file: string): Promise<{ port: number; token: string }> {
  const text = existsSync(file) ? readFileSync(file, 'utf8') : '';
  const [, port, token = randomBytes(24).toString('base64url')] = /^(\d+) ([\w-]{32})$/m.exec(text) ?? [];
  const isUsable = port !== undefined && (await isPortFree('127.0.0.1', Number(port)));
  return { port: isUsable ? Number(port) : -1, token };
}

/** @throws OperatorError with the command that installs it, if it is missing. */
export function findNatsServer(): string {
  const program = findServer('nats-server');
  if (program !== null) return program;
  throw new OperatorError(
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

interface ServerSettings {
  readonly syncSetting: string | null;
  readonly token: string;
}

function configure(dir: string, port: number, { syncSetting, token }: ServerSettings): string {
  const path = join(dir, 'nats.conf');
  const quoted = (file: string) => JSON.stringify(resolve(dir, file));
  writePrivately(
    path,
    [
      'host: "127.0.0.1"',
      `port: ${port}`,
      `authorization { token: ${JSON.stringify(token)} }`,
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

/** Writes a file that only this user can read, even if it was readable before. */
function writePrivately(path: string, content: string) {
  writeFileSync(path, content, { mode: 0o600 });
  chmodSync(path, 0o600);
}

function spawnServer(program: string, configuration: string, dir: string): ChildProcess {
  const errors = openSync(join(dir, 'nats.err'), 'a');
  const command = bindToParent(program, ['-c', configuration]);
  const child = spawn(...command, { detached: true, stdio: ['ignore', errors, errors] });
  // The child has its own.
  closeSync(errors);
  return child;
}

/** Waits for the ports file of this process, so that no other server can be meant. */
async function waitForAddress(child: ChildProcess, dir: string): Promise<string> {
  const file = join(dir, `nats-server_${child.pid}.ports`);
  const url$ = interval(pollMs).pipe(
    map(() => readUrl(file)),
    filter((url) => url !== null),
    takeUntil(merge(timer(startMs), fromEvent(child, 'exit'))),
  );
  const url = await firstValueFrom(url$, { defaultValue: null });
  if (url !== null) return url;
  throw new OperatorError(
    `nats-server did not start; see ${join(dir, 'nats.log')} and ${join(dir, 'nats.err')}`,
  );
}

/** Access to the local server of a service that this user runs on the same folder; null without one. */
export function findLocalNats(dir: string): NatsAccess | null {
  const file = join(dir, urlFileName);
  return existsSync(file) ? { url: readFileSync(file, 'utf8').trim() } : null;
}

const portsReport = z.object({ nats: z.array(z.string()).optional() });

/** Null until the server has written it. */
function readUrl(portsFile: string): string | null {
  if (!existsSync(portsFile)) return null;
  const text = readFileSync(portsFile, 'utf8');
  return text === '' ? null : (portsReport.parse(JSON.parse(text)).nats?.[0] ?? null);
}
