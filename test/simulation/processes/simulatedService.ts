import { pino } from 'pino';
import { Registry } from 'prom-client';
import { readConfiguration } from '../../../deploy/configuration/configuration.ts';
import type { Deployment } from '../../../deploy/configuration/deploymentFile.ts';
import { systemClock } from '../../../deploy/process/systemClock.ts';
import { startService } from '../../../deploy/service/service.ts';
import { buildSettings, type ServiceSettings } from '../../../deploy/service/serviceSettings.ts';
import type { SimulatedWorld } from '../world/createWorld.ts';

const configuration = readConfiguration({
  MINER_CLICKHOUSE_URL: 'http://127.0.0.1:8123/miner',
  MINER_DATA_DIR: '/nonexistent',
  MINER_HTTP_PORT: '0',
  MINER_OPS_PORT: '0',
  MINER_RATE_LIMITS: 'off',
});
const nats = { url: 'nats://127.0.0.1:4222' };

/** A process that ingests, indexes the chain and serves, or only serves. */
export type Role = 'run' | 'serve';

/** One process of the service, from its start to its end. */
export type ServiceProcess = Awaited<ReturnType<typeof startServiceProcess>>;

type ListenParameters = Parameters<SimulatedWorld['listen']> extends [string, ...infer Rest] ? Rest : never;

interface ServiceProcessOptions {
  readonly world: SimulatedWorld;
  readonly name: string;
  readonly deployment: Deployment;
  readonly role: Role;
  readonly settings?: Partial<ServiceSettings>;
  /** Receives lines of its log. */
  readonly onLog?: (line: string) => void;
}

/** Beginning of the name of a lost chain stream. */
const chainLoss = 'MINER_CHAIN@';

/** Starts the service as the command does, in a process of the simulation. */
export async function startServiceProcess(options: ServiceProcessOptions) {
  const { world, name, deployment, role, settings = {} } = options;
  const domain = world.time.createDomain(name);
  const roles = { ingest: role === 'run', serve: true };
  // viem batches requests by address, even across processes, so each process has its own address.
  const rpcUrl = role === 'run' ? `http://node/${world.number}/${encodeURIComponent(name)}` : null;
  const { deleted } = world.nats.store;
  // A stream that no snapshot names any more is lost under the time of its newest rows.
  const acceptedLosses = {
    includes: (lost: string) =>
      deleted.includes(lost) ||
      (lost.startsWith(chainLoss) && deleted.some((one) => one.startsWith(chainLoss))),
  };
  const registry = new Registry();
  const logger = pino(
    {
      level: options.onLog === undefined ? 'silent' : 'info',
      base: null,
      timestamp: () => `,"atMs":${Math.round(world.time.nowMs())}`,
    },
    { write: (line: string) => options.onLog?.(`${name} ${line}`) },
  );
  let failure: unknown = null;
  const service = await world.run(domain, () =>
    startService({
      settings: {
        ...buildSettings(configuration, { roles, nats, deployment, rpcUrl }),
        auditMs: 60_000,
        acceptedLosses,
        // Messages that left a stream here were never read, so a new fold version loses nothing.
        acceptsLoss: true,
        ...settings,
      },
      clock: systemClock,
      logger,
      registry,
      onFault: (error) => {
        failure = error ?? new Error('it ended');
      },
    }),
  );
  const get = (path: string, headers?: Readonly<Record<string, string>>) =>
    domain.isDead ? Promise.resolve(null) : world.request(`${service.publicUrl}${path}`, headers);
  return {
    name,
    domain,
    service,
    get isAlive(): boolean {
      return !domain.isDead;
    },
    /** Why it ended by itself; null while it runs. */
    failure: () => failure,
    get,
    /** Reads an endless response until the client leaves. */
    listen: (path: string, ...reading: ListenParameters) =>
      world.listen(`${service.publicUrl}${path}`, ...reading),
    /** Values by name and labels, as written; empty without an answer. */
    metrics: async (): Promise<ReadonlyMap<string, number>> => {
      const response = await world.request(`${service.operatorUrl}/metrics`);
      const lines = response?.body.toString().split('\n') ?? [];
      return new Map(
        lines
          .filter((line) => line !== '' && !line.startsWith('#'))
          .map((line) => [
            line.slice(0, line.lastIndexOf(' ')),
            Number(line.slice(line.lastIndexOf(' ') + 1)),
          ]),
      );
    },
    /** Ends it at once. */
    kill: () => {
      domain.isDead = true;
    },
    stop: async () => {
      if (domain.isDead) return;
      await world.run(domain, () => service.stop());
      domain.isDead = true;
    },
  };
}
