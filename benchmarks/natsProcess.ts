import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { connect } from '@nats-io/transport-node';
import { freePort } from './freePort.ts';

const startMs = 15_000;
const pollMs = 50;

/** A nats-server with JetStream of a benchmark. */
export interface NatsProcess {
  readonly url: string;
  stop(): Promise<void>;
}

/** @throws Error when it does not answer within fifteen seconds. */
export async function startNatsProcess(dir: string): Promise<NatsProcess> {
  const port = await freePort();
  const url = `nats://127.0.0.1:${port}`;
  const configuration = join(dir, 'nats.conf');
  mkdirSync(dir, { recursive: true });
  writeFileSync(
    configuration,
    `listen: "127.0.0.1:${port}"\njetstream { store_dir: "${join(dir, 'store')}" }\n`,
  );
  const child = spawn('nats-server', ['-c', configuration], {
    stdio: 'ignore',
    env: { PATH: `${process.env.PATH}:/usr/sbin` },
  });
  const exited = once(child, 'exit');
  const stop = async () => {
    child.kill('SIGTERM');
    await exited;
  };
  for (const deadlineMs = performance.now() + startMs; performance.now() < deadlineMs; await wait(pollMs)) {
    try {
      await (await connect({ servers: url, reconnect: false })).close();
      return { url, stop };
    } catch {
      // Not there yet.
    }
  }
  await stop();
  throw new Error(`nats-server does not answer on ${url}`);
}
