import {
  catchError,
  EMPTY,
  exhaustMap,
  from,
  ignoreElements,
  interval,
  merge,
  NEVER,
  type Observable,
} from 'rxjs';
import { closeGraceMs, type Member, type Members, saveGraceMs } from '../../machines/serviceMachine.ts';
import type { Drift } from '../audit/auditBlock.ts';
import { runSelfAudit, type SelfAudit } from '../audit/selfAudit.ts';
import type { Indexer } from '../indexer/indexer.ts';
import type { Followers } from './followers.ts';

/** The stream work of a process, once it may use the database. */
export interface StreamWork extends Followers {
  /** Whether every stream's state was restored at least once, so that views can answer. */
  isRestored(): boolean;
  /** Followers, and the indexer if this process indexes. */
  readonly members: Members;
  /** Compares samples, continues after replays and drops rows that nobody needs while subscribed; emits nothing. */
  upkeep(): Observable<never>;
  /** Differences that the audit knows. */
  drifts(): Drift[];
}

interface StreamWorkOptions {
  readonly followers: Followers;
  /** Null for a process that does not index. */
  readonly indexer: Indexer | null;
  /** Null without a node to compare with. */
  readonly audit: SelfAudit | null;
  /** Seconds between two samples. */
  readonly auditSeconds: number;
  /** Whether other processes can use the database, and so replay a stream. */
  readonly isDatabaseShared: boolean;
  /** Drops rows of runs that nobody needs; null in a process that only reads. */
  readonly dropRuns: (() => Promise<void>) | null;
}

const replayCheckMs = 1_000;
/** Rows are dropped at least one of these after the run was retired. */
const dropMs = 3_600_000;

export function createStreamWork(options: StreamWorkOptions): StreamWork {
  const { followers, indexer, audit, auditSeconds, isDatabaseShared, dropRuns } = options;
  const all = [...followers.followers.values()];
  const takeReplay = async () => followers.followers.get('MINER_COUNTER')?.takeReplay();
  const members = new Map<string, Member & { readonly graceMs: number }>();
  for (const [stream, { member }] of followers.followers)
    members.set(stream, { ...member, graceMs: saveGraceMs });
  if (indexer !== null) members.set('indexer', { ...indexer.member, graceMs: closeGraceMs });
  return {
    ...followers,
    isRestored: () => all.every((follower) => follower.isRestored),
    members,
    upkeep: () =>
      merge(
        audit === null ? NEVER : runSelfAudit(audit, auditSeconds),
        isDatabaseShared ? repeatEvery(replayCheckMs, takeReplay) : NEVER,
        dropRuns === null ? NEVER : repeatEvery(dropMs, dropRuns),
      ),
    drifts: () => audit?.drifts() ?? [],
  };
}

/** The parts that use the database log that it is unavailable. */
function repeatEvery(everyMs: number, step: () => Promise<unknown>): Observable<never> {
  return interval(everyMs).pipe(
    exhaustMap(() => from(step()).pipe(catchError(() => EMPTY))),
    ignoreElements(),
  );
}
