import { defaultReadTimeoutMs } from '../../http/server/answers/pendingReads.ts';
import type { NatsAccess } from '../../streams/nats/natsAccess.ts';
import { boundDeployment, type Configuration, locateDatabase } from '../configuration/configuration.ts';
import type { Deployment } from '../configuration/deploymentFile.ts';

/** After a kill, folding the messages since the last snapshot again takes seconds. */
const snapshotPolicy = { intervalMs: 600_000, messages: 500_000 };

/** Time between two samples of the self-audit. */
const auditMs = 300_000;

/** Settings that the starting command decides, in addition to the configuration. */
interface ProcessSettings {
  /** `ingest` folds and writes; `serve` folds and answers. By default one process does both. */
  readonly roles: { readonly ingest: boolean; readonly serve: boolean };
  readonly nats: NatsAccess;
  readonly deployment: Deployment;
  /** A node to index from, if one is set. A process that does not ingest gets none. */
  readonly rpcUrl: string | null;
}

export type ServiceSettings = ReturnType<typeof buildSettings>;

/** Builds the settings of a process. `configuration.ts` says what each means. */
export function buildSettings(configuration: Configuration, settings: ProcessSettings) {
  const deployment = boundDeployment(settings.deployment, configuration);
  const acceptedLosses: Pick<readonly string[], 'includes'> = configuration.MINER_LOST_STREAMS;
  return {
    ...settings,
    deployment,
    // A read replica publishes nothing, and therefore no spans.
    rpcUrl: settings.roles.ingest ? settings.rpcUrl : null,
    database: locateDatabase(configuration),
    dataDir: configuration.MINER_DATA_DIR,
    host: configuration.MINER_HOST,
    httpPort: configuration.MINER_HTTP_PORT,
    opsPort: configuration.MINER_OPS_PORT,
    opsHost: configuration.MINER_OPS_HOST,
    opsNames: configuration.MINER_OPS_NAMES,
    http: {
      allowedOrigins: configuration.MINER_ALLOWED_ORIGINS,
      transactionUrl: configuration.MINER_TRANSACTION_URL,
      publicUrl: configuration.MINER_PUBLIC_URL,
      securityContact: configuration.MINER_SECURITY_CONTACT,
      trustedProxies: configuration.MINER_TRUSTED_PROXIES,
      rateLimits: configuration.MINER_RATE_LIMITS,
      readTimeoutMs: defaultReadTimeoutMs,
    },
    retentionDays: configuration.MINER_RETENTION_DAYS,
    replicas: configuration.MINER_STREAM_REPLICAS,
    readingsTtlDays: configuration.MINER_READINGS_TTL_DAYS,
    acceptsLoss: configuration.MINER_INCOMPLETE_REBUILD === 'accept',
    acceptedLosses,
    chainStaleAfterMs: configuration.MINER_CHAIN_STALE_SECONDS * 1000,
    chainBehindAfterMs: configuration.MINER_CHAIN_BEHIND_SECONDS * 1000,
    readyGraceMs: configuration.MINER_READY_GRACE_SECONDS * 1000,
    auditMs,
    snapshots: snapshotPolicy,
  };
}
