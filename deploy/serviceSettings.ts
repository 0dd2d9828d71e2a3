import type { PublicServerSettings } from '../http/server/publicServer.ts';
import type { DatabaseLocation } from '../storage/database.ts';
import type { ChainProofs } from '../streams/indexer/chainProofs.ts';
import type { NatsAccess } from '../streams/jetstream/natsAccess.ts';
import type { SnapshotPolicy } from '../streams/operators/snapshotMarks.ts';
import type { Deployment } from './deploymentFile.ts';

export interface ServiceSettings {
  /** `ingest` folds and writes; `serve` folds and answers. By default one process does both. */
  readonly roles: { readonly ingest: boolean; readonly serve: boolean };
  readonly nats: NatsAccess;
  readonly database: DatabaseLocation;
  /** Folder of the local parts. */
  readonly dataDir: string;
  readonly host: string;
  readonly httpPort: number;
  readonly opsPort: number;
  readonly opsHost: string;
  /** Host names with a dot by which the operators' port may be asked. */
  readonly opsNames: readonly string[];
  readonly http: PublicServerSettings;
  readonly retentionDays: number;
  /** Copies of each stream; null leaves existing ones alone. */
  readonly replicas: number | null;
  /** Days that rows stay in ClickHouse; 0 keeps all. */
  readonly rowsTtlDays: number;
  /** Whether rows are folded again although some of what they were made from is lost. */
  readonly acceptsLoss: boolean;
  /** Lost streams whose rows and state may be removed, as `MINER_LOST_STREAMS` names them. */
  readonly acceptedLosses: Pick<readonly string[], 'includes'>;
  /** A newest span older than this means that the indexer is unavailable. */
  readonly chainStaleAfterMs: number;
  /** A safe block whose time is further behind the clock means the same. */
  readonly chainBehindAfterMs: number;
  /** This process is not ready if an input lags for longer than this. */
  readonly readyGraceMs: number;
  /** A node to index from; null for a process that does not. */
  readonly rpcUrl: string | null;
  readonly chainProofs: ChainProofs;
  readonly deployment: Deployment;
  /** Seconds between two samples that are compared with what they were made from; 0 for none. */
  readonly auditSeconds: number;
  readonly snapshots: SnapshotPolicy;
  /** One of so many requests is logged; 0 for none. */
  readonly accessLogOneOf: number;
}
