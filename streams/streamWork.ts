import { NEVER, type Observable } from 'rxjs';
import type { WorkMachines } from '../machines/serviceSetup.ts';
import { type Drift, runSelfAudit, type SelfAudit } from './audit/selfAudit.ts';
import type { Followers } from './followers.ts';
import type { Indexer } from './indexer/indexer.ts';

/** The stream work of a process, once its tables are known. */
export interface StreamWork extends Followers {
  /** Whether every stream's state was restored at least once, so that views can answer. */
  isRestored(): boolean;
  readonly machines: WorkMachines;
  /** Compares a sample at each interval while subscribed; emits nothing. */
  audits(): Observable<never>;
  /** Differences that the audits know. */
  drifts(): Drift[];
  /** Continues the fold of the counter stream in another generation, from the state that a replay has stored there. */
  useGeneration(generation: number): void;
}

interface StreamWorkOptions {
  readonly followers: Followers;
  /** Null for a process that does not index. */
  readonly indexer: Indexer | null;
  readonly audit: SelfAudit;
  /** Seconds between two samples; 0 for none. */
  readonly auditSeconds: number;
}

export function createStreamWork({ followers, indexer, audit, auditSeconds }: StreamWorkOptions): StreamWork {
  const all = [...followers.followers.values()];
  return {
    ...followers,
    isRestored: () => all.every((follower) => follower.isRestored),
    machines: {
      followers: new Map([...followers.followers].map(([stream, { member }]) => [stream, member])),
      indexers: new Map(indexer === null ? [] : [['indexer', indexer.member]]),
    },
    audits: () => (auditSeconds === 0 ? NEVER : runSelfAudit(audit, auditSeconds)),
    drifts: audit.drifts,
    useGeneration: (generation) => followers.followers.get('MINER_COUNTER')?.restoreFrom(generation),
  };
}
