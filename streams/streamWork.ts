import { NEVER, type Observable } from 'rxjs';
import type { WorkMachines } from '../machines/serviceSetup.ts';
import { type Drift, runSelfAudit, type SelfAudit } from './audit/selfAudit.ts';
import type { Followers } from './followers.ts';
import type { Indexer } from './indexer/indexer.ts';

/** What a process does with the streams, once it is known which tables it works on. */
export interface StreamWork extends Followers {
  /** Every stream's state was restored at least once, so views answer from folded state. */
  isRestored(): boolean;
  /** For the root, which runs them. */
  readonly machines: WorkMachines;
  /** Compares a sample at each interval while subscribed; emits nothing. */
  audits(): Observable<never>;
  /** What the audits know to differ. */
  drifts(): Drift[];
  /** Continues the fold of the counter stream in another generation, after what a replay has stored there. */
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
