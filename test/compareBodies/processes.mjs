// The processes of a recording, each on free ports.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { jetstream, jetstreamManager } from '@nats-io/jetstream';
import { connect } from '@nats-io/transport-node';
import { findFreePort } from '../support/processes/findFreePort.mjs';

const [leastPauseMs, longestPauseMs] = [20, 250];
const limitMs = 600_000;

/** Asks again and again until `probe` returns something; what it threw last is in the error. */
export async function eventually(probe, what) {
  const startedMs = performance.now();
  let last = null;
  for (let waitedMs = 0; waitedMs < limitMs; waitedMs = performance.now() - startedMs) {
    try {
      const value = await probe();
      if (value !== null && value !== undefined && value !== false) return value;
      last = value;
    } catch (error) {
      if (error instanceof ProcessEnded) throw error;
      last = error;
    }
    const pauseMs = Math.min(Math.max(waitedMs / 10, leastPauseMs), longestPauseMs);
    await new Promise((resolve) => setTimeout(resolve, pauseMs));
  }
  throw new Error(`${what} did not happen: ${last}`);
}

class ProcessEnded extends Error {
  name = 'ProcessEnded';
}

function startProcess(command, args, env) {
  const child = spawn(command, args, { env, stdio: ['ignore', 'pipe', 'pipe'] });
  const exited = once(child, 'exit').then(([code]) => code);
  let output = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (chunk) => {
      output += chunk;
    });
  }
  const hasEnded = () => child.exitCode !== null || child.signalCode !== null;
  return {
    output: () => output,
    /** @throws ProcessEnded */
    checkRunning: () => {
      if (hasEnded()) throw new ProcessEnded(`${command} ${args.join(' ')} ended: ${output.slice(-4_000)}`);
    },
    /** Asks it to end and waits until it has; resolves with its exit status. */
    stop: async () => {
      if (!hasEnded()) child.kill('SIGTERM');
      return exited;
    },
    kill: async () => {
      if (!hasEnded()) child.kill('SIGKILL');
      await exited;
    },
  };
}

/** A nats-server whose streams are in `dir`, and a connection to it. */
export async function startNats(dir) {
  mkdirSync(dir, { recursive: true });
  const port = await findFreePort();
  const url = `nats://127.0.0.1:${port}`;
  const configuration = join(dir, 'nats.conf');
  writeFileSync(
    configuration,
    `listen: "127.0.0.1:${port}"\njetstream { store_dir: "${join(dir, 'store')}" }\n`,
  );
  const server = startProcess('nats-server', ['-c', configuration], {
    ...process.env,
    PATH: `${process.env.PATH}:/usr/sbin`,
  });
  const connection = await eventually(async () => {
    server.checkRunning();
    const opened = await connect({ servers: url, timeout: 1_000, reconnect: false });
    try {
      await (await jetstreamManager(opened)).getAccountInfo();
      return opened;
    } catch (error) {
      await opened.close();
      throw error;
    }
  }, `nats-server on ${url}`);
  return {
    url,
    js: jetstream(connection),
    jsm: await jetstreamManager(connection),
    stop: async () => {
      await connection.close();
      await server.stop();
    },
  };
}

/** The program as a process of its own. With `clock`, its wall clock stands at that time. */
export function startProgram({ program, args, environment, clock }) {
  const preload = pathToFileURL(join(import.meta.dirname, 'standingClock.mjs'));
  const standing = clock === undefined ? {} : { NODE_OPTIONS: `--import ${preload}`, STANDING_CLOCK: clock };
  return startProcess(process.execPath, [program, ...args], {
    PATH: process.env.PATH,
    MINER_HTTP_PORT: '0',
    MINER_OPS_PORT: '0',
    MINER_RATE_LIMITS: 'off',
    ...environment,
    ...standing,
  });
}

/** The first line of a program's log that says `message`. */
export function waitForLog(started, message) {
  return eventually(() => {
    started.checkRunning();
    const lines = started.output().split('\n');
    const line = lines.find((one) => one.includes(`"msg":"${message}"`) && one.endsWith('}'));
    return line === undefined ? null : JSON.parse(line);
  }, message);
}

/** Waits until the program is ready, has folded everything that the streams hold, and has written its rows. */
export async function waitUntilStored(started, operatorUrl, jsm) {
  const metric = async (name) => {
    const text = await (await fetch(`${operatorUrl}/metrics`)).text();
    const line = text.split('\n').find((one) => one.startsWith(`${name} `));
    return Number(line?.slice(name.length + 1));
  };
  for (const stream of ['MINER_COUNTER', 'MINER_PIPELINE', 'MINER_CHAIN']) {
    const { state } = await jsm.streams.info(stream);
    // Without contracts the stream of the chain is empty, and nothing follows it.
    if (state.last_seq === 0) continue;
    const names = ['miner_stream_position'];
    if (stream !== 'MINER_PIPELINE') names.push('miner_rows_flushed_position');
    for (const name of names) {
      const isThere = async () => {
        started.checkRunning();
        const value = await metric(`${name}{stream="${stream}"}`);
        if (value >= state.last_seq) return true;
        throw new Error(`it is ${value}`);
      };
      await eventually(isThere, `${name} of ${stream} at ${state.last_seq}`);
    }
  }
  await eventually(async () => (await fetch(`${operatorUrl}/readyz`)).ok, 'readiness');
}
