import { NEVER, type Observable } from 'rxjs';
import { type NamedSnapshot, nameActor, nameSnapshot } from './actorTransitions.ts';
import { type Drift, runSelfAudit, type SelfAudit } from './audit/selfAudit.ts';
import type { Followers } from './followers.ts';
import type { UsedGeneration } from './generationWatch.ts';
import type { Indexer } from './indexer/indexer.ts';

/** How long a stop waits for the state to be saved. */
export const saveGraceMs = 5_000;

/** What a process does with the streams, once it is known which tables it works on. */
export interface StreamWork extends Followers {
  /** Every stream's state was restored at least once, so views answer from folded state. */
  isRestored(): boolean;
  /** Snapshots of the machines of the followers and of the indexer. */
  machines(): NamedSnapshot[];
  /** Follows the streams until they are drained or abandoned; rejects only for a fault of this program. */
  follow(): Promise<void>;
  /** Reads no more messages, and resolves once those already read are stored and saved, or a grace period is over. */
  drain(): Promise<void>;
  /** Ends the followers at once: nothing may be stored any more. */
  abandon(): void;
  /** Indexes the chain, if this process does, until `endIndexer` is called. */
  index(): Promise<void>;
  endIndexer(): void;
  /** Compares a sample at each interval while subscribed; emits nothing. */
  audits(): Observable<never>;
  /** What the audits know to differ. */
  drifts(): Drift[];
  /** Continues the fold of the counter stream in another generation, after what a replay has stored there. */
  useGeneration(generation: number): void;
}

export interface StreamWorkOptions {
  readonly followers: Followers;
  /** Null for a process that does not index. */
  readonly indexer: Indexer | null;
  readonly used: UsedGeneration;
  readonly audit: SelfAudit;
  /** Seconds between two samples; 0 for none. */
  readonly auditSeconds: number;
}

export function createStreamWork({
  followers,
  indexer,
  used,
  audit,
  auditSeconds,
}: StreamWorkOptions): StreamWork {
  const all = [...followers.followers.values()];
  const indexing = new AbortController();
  return {
    ...followers,
    isRestored: () => all.every((follower) => follower.isRestored),
    machines: () => [
      ...[...followers.followers].map(([stream, follower]): NamedSnapshot => {
        const snapshot = follower.snapshot();
        return [nameActor(snapshot, stream), snapshot];
      }),
      ...(indexer === null ? [] : [nameSnapshot(indexer.snapshot())]),
    ],
    follow: async () => {
      await Promise.all(all.map((follower) => follower.run()));
    },
    drain: async () => {
      await Promise.all(all.map((follower) => follower.stop({ graceMs: saveGraceMs })));
    },
    abandon: () => {
      for (const follower of all) follower.abandon();
    },
    index: async () => indexer?.run(indexing.signal),
    endIndexer: () => indexing.abort(new Error('the service is being stopped')),
    audits: () => (auditSeconds === 0 ? NEVER : runSelfAudit(audit, auditSeconds)),
    drifts: audit.drifts,
    useGeneration: (generation) =>
      followers.followers.get('MINER_COUNTER')?.restoreReplaced(() => used.use(generation)),
  };
}
