import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { findNatsServer } from '../../../deploy/local/localNats.ts';
import { startProcess, type TestProcess } from './childProcess.ts';
import { findFreePort } from './findFreePort.mjs';
import { eventually, temporaryDirectory } from './lifetime.ts';
import { writeNatsConfiguration } from './natsConfiguration.ts';

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

interface JetStreamReport {
  readonly meta_cluster?: { readonly replicas?: readonly { readonly current: boolean }[] };
}

/** A cluster of three nats-servers, each with its own folder. */
interface NatsCluster {
  /** Addresses of all, separated by commas. */
  readonly url: string;
  /** Holds a folder of each server. */
  readonly dir: string;
  stopAll(signal?: NodeJS.Signals): Promise<void>;
  startAll(): Promise<void>;
  kill(name: string): Promise<void>;
  start(name: string): Promise<void>;
}

export async function startNatsCluster(): Promise<NatsCluster> {
  const { program, minor } = findNewestNatsServer();
  const names = ['one', 'two', 'three'];
  const ports = await Promise.all(names.map(findFreePort));
  const httpPorts = await Promise.all(names.map(findFreePort));
  const routePorts = await Promise.all(names.map(findFreePort));
  const routes = routePorts.map((port) => `"nats://127.0.0.1:${port}"`).join(', ');
  const dir = temporaryDirectory();
  const sync = minor >= 10 ? 'sync_interval: always' : '';
  const running = new Map<string, TestProcess>();

  function start(name: string) {
    const at = names.indexOf(name);
    const configuration = writeNatsConfiguration(
      join(dir, name),
      ports[at] as number,
      `http: "127.0.0.1:${httpPorts[at]}"\nserver_name: ${name}\ncluster { name: test, listen: "127.0.0.1:${routePorts[at]}", routes: [${routes}] }`,
      sync,
    );
    running.set(name, startProcess(program, ['-c', configuration]));
  }

  const kill = async (name: string) => {
    await running.get(name)?.end('SIGKILL');
  };

  /** Whether one server leads, and has taken up the others. */
  async function isWhole() {
    const answers = await Promise.all(
      httpPorts.map(async (port) => {
        const response = await fetch(`http://127.0.0.1:${port}/jsz?meta=1`);
        return (await response.json()) as JetStreamReport;
      }),
    );
    // Only the leader knows whether the others are current; newer servers name them all the same.
    return answers.some(({ meta_cluster }) => {
      const { replicas = [] } = meta_cluster ?? {};
      return replicas.length === names.length - 1 && replicas.every(({ current }) => current);
    });
  }

  /** Starts servers, and again if the cluster has left one out, which it does for good in 4 of 100 starts (2.10.27). */
  async function startUntilWhole(started: readonly string[]) {
    for (let attempt = 0; attempt < 5; attempt++) {
      for (const name of started) start(name);
      if (await eventually(isWhole, 'a whole cluster', 20_000).catch(() => false)) return;
      for (const name of started) await kill(name);
    }
    throw new Error(`the cluster of ${names.join(', ')} leaves one out`);
  }

  await startUntilWhole(names);
  return {
    url: ports.map((port) => `nats://127.0.0.1:${port}`).join(','),
    dir,
    stopAll: async (signal = 'SIGTERM') => {
      await Promise.all([...running.values()].map((server) => server.end(signal)));
    },
    startAll: () => startUntilWhole(names),
    kill,
    start: (name) => startUntilWhole([name]),
  };
}
