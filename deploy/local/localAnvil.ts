import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join, resolve } from 'node:path';
import { createInterface } from 'node:readline';
import type { Logger } from 'pino';
import { OperatorError } from '../../actors/operatorError.ts';
import { requireValue } from '../../machines/requireValue.ts';
import { createPrivateDirectory } from '../../storage/clickhouse/privateDirectory.ts';
import { bindToParent, endProcess, stopOrphan } from './childServer.ts';

const startMs = 15_000;
/** It writes its state before it ends. */
const stopMs = 2_500;
const stateIntervalSeconds = 60;
/**
 * States of earlier blocks in memory, as many as other nodes keep: the self-audit reads down to the 75th. Without this anvil has 500, and others in
 * files.
 */
const keptStates = 128;

interface LocalAnvilSettings {
  /** Time of the first block, Unix seconds. */
  readonly genesisTimestamp: number;
  /** Folder of its state, read at the start and written every minute and at the end; null to store none. */
  readonly dir: string | null;
  readonly hardfork?: string;
  readonly logger: Logger;
}

/**
 * Starts anvil on loopback, on any free port. It mines a block on request. It is not in the terminal's process group, so Ctrl-C reaches only this process,
 * which stops it.
 *
 * @throws OperatorError
 */
export async function startAnvil(settings: LocalAnvilSettings) {
  const { genesisTimestamp, dir, hardfork = 'cancun', logger } = settings;
  const stateArguments: string[] = [];
  if (dir !== null) {
    createPrivateDirectory(dir);
    const stateFile = resolve(dir, 'anvil-state.json');
    await stopOrphan({ pidFile: join(dir, 'anvil.pid'), mark: stateFile, stopMs, logger });
    stateArguments.push('--state', stateFile, '--state-interval', String(stateIntervalSeconds));
  }
  const child = spawn(
    ...bindToParent(findAnvil(), [
      ...['--host', '127.0.0.1', '--port', '0', '--timestamp', String(genesisTimestamp)],
      ...['--no-mining', '--hardfork', hardfork, '--order', 'fifo', '--block-base-fee-per-gas', '0'],
      ...['--gas-limit', '120000000', '--accounts', '20', ...stateArguments],
      ...['--prune-history', String(keptStates)],
    ]),
    { detached: true, stdio: ['ignore', 'pipe', 'pipe'] },
  );
  let isStopping = false;
  const exited = once(child, 'exit');
  const port = await readPort(child);
  const url = `http://127.0.0.1:${port}`;
  const pid = requireValue(child.pid, 'the process ID of an anvil that has announced its port');
  if (dir !== null) writeFileSync(join(dir, 'anvil.pid'), `${pid}\n`);
  logger.info({ url, pid }, 'anvil started');
  return {
    url,
    /** Resolves if it ends without being stopped. */
    ended: exited.then(() => (isStopping ? new Promise<void>(() => undefined) : undefined)),
    stop: async () => {
      isStopping = true;
      await endProcess(child, stopMs);
    },
  };
}

/** Path of the program itself, since the package's launcher does not forward every signal. */
function findAnvil(): string {
  const architectures: Record<string, string> = { x64: 'amd64', arm64: 'arm64' };
  const platform = `${process.platform}-${architectures[process.arch] ?? process.arch}`;
  const require = createRequire(import.meta.url);
  try {
    const launcher = createRequire(require.resolve('@foundry-rs/anvil/package.json'));
    const manifest = launcher.resolve(`@foundry-rs/anvil-${platform}/package.json`);
    return join(dirname(manifest), 'bin', process.platform === 'win32' ? 'anvil.exe' : 'anvil');
  } catch {
    throw new OperatorError(`there is no anvil for ${platform} among the installed packages`);
  }
}

/** Reads the port from the child's own output, so that no other server can be meant. */
function readPort(child: ChildProcess): Promise<number> {
  return new Promise((resolve, reject) => {
    const lines: string[] = [];
    const fail = () => reject(new OperatorError(`anvil does not start:\n${lines.join('\n')}`));
    const timer = setTimeout(fail, startMs);
    child.once('exit', fail);
    child.once('error', fail);
    for (const stream of [child.stdout, child.stderr]) {
      if (stream === null) continue;
      createInterface({ input: stream }).on('line', (line) => {
        const port = /Listening on 127\.0\.0\.1:(\d+)/.exec(line)?.[1];
        if (port === undefined) {
          if (lines.length < 50) lines.push(line);
          return;
        }
        clearTimeout(timer);
        child.off('exit', fail);
        resolve(Number(port));
      });
    }
  });
}
