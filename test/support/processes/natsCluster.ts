import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { jetstreamManager } from '@nats-io/jetstream';
import { connect } from '@nats-io/transport-node';
import { findNatsServer } from '../../../deploy/local/localNats.ts';
import { closeNats } from '../../../streams/jetstream/connection.ts';
import { eventually, startProcess, type TestProcess } from './childProcess.ts';
import { findFreePort } from './findFreePort.mjs';
import { writeNatsConfiguration } from './serverConfigurations.ts';
import { temporaryDirectory } from './temporaryDirectory.ts';

/** `npm test` unpacks a newer server than the installed one here, if the system has a signed source of it. */
const unpacked = resolve(
  import.meta.dirname,
  '../../../node_modules/.cache/miner/nats-server/usr/sbin/nats-server',
);

interface NatsServerProgram {
  readonly program: string;
  /** Second number of its version; with JetStream the first is 2. */
  readonly minor: number;
}

/** The newest nats-server of this machine. */
export function findNewestNatsServer(): NatsServerProgram {
  const found = readProgram(findNatsServer());
  const newer = existsSync(unpacked) ? readProgram(unpacked) : found;
  return newer.minor > found.minor ? newer : found;
}

function readProgram(program: string): NatsServerProgram {
  const version = execFileSync(program, ['--version'], { encoding: 'utf8' });
  return { program, minor: Number(/v2\.(\d+)/.exec(version)?.[1]) };
}

/** A cluster of three nats-servers, each with its own folder. */
export interface NatsCluster {
  /** Addresses of all, separated by commas. */
  readonly url: string;
  readonly urls: readonly string[];
  kill(name: string): Promise<void>;
  start(name: string): Promise<void>;
}

export async function startNatsCluster(): Promise<NatsCluster> {
  const { program, minor } = findNewestNatsServer();
  const names = ['one', 'two', 'three'];
  const ports = await Promise.all(names.map(findFreePort));
  const routePorts = await Promise.all(names.map(findFreePort));
  const routes = routePorts.map((port) => `"nats://127.0.0.1:${port}"`).join(', ');
  const dir = temporaryDirectory();
  const sync = minor >= 10 ? 'sync_interval: always' : '';
  // With several connections to each other, servers that start at once sometimes never elect a leader: three of a hundred starts of 2.10.27.
  const pool = minor >= 10 ? ', pool_size: -1' : '';
  const running = new Map<string, TestProcess>();

  function start(name: string) {
    const at = names.indexOf(name);
    const configuration = writeNatsConfiguration(
      join(dir, name),
      ports[at] as number,
      `server_name: ${name}\ncluster { name: test, listen: "127.0.0.1:${routePorts[at]}", routes: [${routes}]${pool} }`,
      sync,
    );
    running.set(name, startProcess(program, ['-c', configuration]));
  }

  for (const name of names) start(name);
  const urls = ports.map((port) => `nats://127.0.0.1:${port}`);
  const waitForLeader = () =>
    eventually(async () => {
      const connection = await connect({ servers: urls, timeout: 1_000, reconnect: false });
      try {
        await (await jetstreamManager(connection, { timeout: 1_000 })).getAccountInfo();
      } finally {
        await closeNats(connection);
      }
      return true;
    }, 'a cluster with a leader');
  await waitForLeader();
  return {
    url: urls.join(','),
    urls,
    kill: async (name) => {
      await running.get(name)?.end('SIGKILL');
    },
    start: async (name) => {
      start(name);
      await waitForLeader();
    },
  };
}
