import { spawn } from 'node:child_process';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { bindToParent, endProcess } from '../deploy/local/childServer.ts';
import { findFreePort } from '../test/support/processes/findFreePort.mjs';
import { pinToCore } from './pinToCore.ts';

const startMs = 20_000;
const stopMs = 20_000;
const pollMs = 20;
const plain = { 'Accept-Encoding': 'identity' };

/** The user's PATH with Debian's folder of servers. */
const serverPath = `${process.env.PATH}:/usr/sbin`;

export interface Server {
  readonly url: string;
  readonly pid: number;
  stop(): Promise<void>;
}

/**
 * Starts an HTTP server, and waits until it answers.
 *
 * @param probeUrl address that is requested until it answers.
 * @throws Error if it does not answer within twenty seconds; then it is stopped.
 */
export async function startServer(
  [program, ...args]: readonly [string, ...string[]],
  probeUrl: string,
): Promise<Server> {
  const child = spawn(...bindToParent(program, args), {
    stdio: ['ignore', 'ignore', 'inherit'],
    env: { PATH: serverPath },
  });
  const stop = () => endProcess(child, stopMs);
  for (const deadlineMs = performance.now() + startMs; performance.now() < deadlineMs; await wait(pollMs)) {
    const response = await fetch(probeUrl, { headers: plain }).catch(() => null);
    if (response !== null) return { url: new URL(probeUrl).origin, pid: child.pid as number, stop };
  }
  await stop();
  throw new Error(`${program} does not answer at ${probeUrl}`);
}

/** The embedded engine behind ClickHouse's HTTP interface, since Debian's clickhouse-server is too old for the tables. */
const clickHouseProgram = fileURLToPath(
  new URL('../../test/support/processes/clickHouseEngineProcess.mjs', import.meta.url),
);

/** Starts a ClickHouse server for a benchmark on a core, in its own folder. */
export async function startClickHouse(dir: string, core: number): Promise<Server> {
  mkdirSync(dir, { recursive: true });
  const port = String(await findFreePort());
  const command = pinToCore(core, [process.execPath, clickHouseProgram, join(dir, 'data'), port]);
  return startServer(command, `http://127.0.0.1:${port}/ping`);
}
