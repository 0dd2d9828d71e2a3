import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { afterAll, beforeAll } from 'vitest';
import { spawnTied } from './childProcess.ts';
import { findFreePort } from './findFreePort.mjs';
import { eventually } from './lifetime.ts';

const program = resolve(import.meta.dirname, 'clickHouseEngineProcess.mjs');

/** The server of a test file; each test has a database of its own in it. */
interface ClickHouseEngine {
  /** Creates an empty database, and returns its address for the service. */
  createDatabase(): Promise<string>;
  /** Kills the process. Acknowledged rows stay in its folder. */
  kill(): Promise<void>;
  /** Restarts it on the same port. */
  start(): Promise<void>;
}

/** Starts the embedded engine as a server process for the tests of the calling file or `describe`. */
export function useClickHouseEngine(): ClickHouseEngine {
  const dir = mkdtempSync(join(tmpdir(), 'miner-engine-'));
  let port = 0;
  let child: ChildProcess | null = null;
  let databases = 0;

  async function start() {
    const started = spawnTied(process.execPath, [program, join(dir, 'data'), String(port)], {
      stdio: ['ignore', 'ignore', 'inherit'],
    });
    child = started;
    await eventually(async () => (await fetch(`http://127.0.0.1:${port}/ping`)).ok, 'the engine');
  }

  async function kill() {
    if (child === null || child.exitCode !== null || child.signalCode !== null) return;
    const exited = once(child, 'exit');
    child.kill('SIGKILL');
    await exited;
  }

  beforeAll(async () => {
    port = await findFreePort();
    await start();
  });
  afterAll(async () => {
    await kill();
    rmSync(dir, { recursive: true, force: true });
  });

  return {
    createDatabase: async () => {
      const name = `test_${++databases}`;
      const url = `http://127.0.0.1:${port}`;
      const response = await fetch(url, { method: 'POST', body: `CREATE DATABASE ${name}` });
      if (!response.ok) throw new Error(await response.text());
      return `${url}/${name}`;
    },
    kill,
    start,
  };
}
