import { pino } from 'pino';
import { Registry } from 'prom-client';
import type { Deployment } from '../../../deploy/deploymentFile.ts';
import { type Service, type ServiceSettings, startService } from '../../../deploy/service.ts';
import { systemClock } from '../../../deploy/systemClock.ts';
import { defaultReadTimeoutMs } from '../../../http/server/pendingReads.ts';
import type { SimulatedWorld } from '../world/createWorld.ts';
import type { SimulatedResponse } from '../world/currentWorld.ts';
import type { Domain } from '../world/virtualTime.ts';

/** One process of the service, from its start to its end. */
export interface ServiceProcess {
  readonly name: string;
  readonly domain: Domain;
  readonly service: Service;
  readonly isAlive: boolean;
  /** Why it has ended by itself; null while it has not. */
  failure(): unknown;
  get(path: string, headers?: Readonly<Record<string, string>>): Promise<SimulatedResponse | null>;
  metric(name: string): Promise<number | null>;
  /** It ends at once, wherever it is. */
  kill(): void;
  stop(): Promise<void>;
}

export interface ServiceProcessOptions {
  readonly world: SimulatedWorld;
  readonly name: string;
  readonly deployment: Deployment;
  readonly roles?: ServiceSettings['roles'];
  readonly settings?: Partial<ServiceSettings>;
  /** It has an empty database of its own. */
  readonly isSeparate?: boolean;
  /** Lines of its log at a level from which on they are wanted. */
  readonly onLog?: (line: string) => void;
}

/** Starts the service as the command does, in a process of the simulation. */
export async function startServiceProcess(options: ServiceProcessOptions): Promise<ServiceProcess> {
  const { world, name, deployment, roles = { ingest: true, serve: true }, settings = {} } = options;
  const domain = world.time.createDomain(name);
  if (options.isSeparate) world.separateDatabase(domain);
  const registry = new Registry();
  const logger = pino(
    {
      level: options.onLog === undefined ? 'silent' : 'info',
      base: null,
      timestamp: () => `,"atMs":${Math.round(world.time.nowMs())}`,
    },
    { write: (line: string) => options.onLog?.(`${name} ${line}`) },
  );
  const service = await world.run(domain, () =>
    startService({
      settings: { ...defaultSettings(deployment), roles, ...settings },
      clock: systemClock,
      logger,
      registry,
    }),
  );
  let failure: unknown = null;
  service.failed.catch((error: unknown) => {
    failure = error ?? new Error('it ended');
  });
  const get = (path: string, headers?: Readonly<Record<string, string>>) =>
    domain.isDead ? Promise.resolve(null) : world.request(`${service.publicUrl}${path}`, headers);
  return {
    name,
    domain,
    service,
    get isAlive() {
      return !domain.isDead;
    },
    failure: () => failure,
    get,
    metric: async (metric) => {
      const response = await world.request(`${service.operatorUrl}/metrics`);
      const line = response?.body
        .toString()
        .split('\n')
        .find((one) => one.startsWith(`${metric} `));
      return line === undefined ? null : Number(line.slice(metric.length + 1));
    },
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

function defaultSettings(deployment: Deployment): ServiceSettings {
  return {
    roles: { ingest: true, serve: true },
    nats: { url: 'nats://127.0.0.1:4222' },
    database: { url: 'http://127.0.0.1:8123/miner' },
    dataDir: '/nonexistent',
    host: '127.0.0.1',
    httpPort: 0,
    opsPort: 0,
    opsHost: '127.0.0.1',
    opsNames: [],
    http: {
      allowedOrigins: [],
      trustedProxies: [],
      rateLimits: false,
      isPortShared: false,
      readTimeoutMs: defaultReadTimeoutMs,
      transactionUrl: null,
      publicUrl: null,
      securityContact: null,
    },
    retentionDays: 0,
    replicas: null,
    rowsTtlDays: 0,
    acceptsLoss: false,
    chainStaleAfterMs: 120_000,
    readyGraceMs: 10_000,
    rpcUrl: null,
    chainProofs: 'all',
    deployment,
    auditSeconds: 60,
    snapshots: { intervalMs: 60_000, messages: 500_000 },
    accessLogOneOf: 0,
  };
}
