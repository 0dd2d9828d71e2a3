import { defer, lastValueFrom, retry, throwError, timer } from 'rxjs';
import type { Clock } from '../../actors/clock.ts';

/**
 * How long every answer about a replicated stream has to agree. In a healthy cluster the leader answers, and it may not have applied yet what
 * another server has delivered; a leader that was replaced may answer for about 10 seconds more.
 */
const replicatedMs = 30_000;
/** A suspicion that nothing has repeated for this long is forgotten. */
const forgottenAfterMs = 2 * replicatedMs;
/** More claims than are under suspicion at the same time: snapshots and newest rows of one stream. */
const claimsMax = 256;
const askAgainMs = 500;

/** An answer contradicts what is folded or stored, which proves nothing yet. Ask again, and change nothing until then. */
export class NotProven extends Error {
  override readonly name = 'NotProven';
}

/** An answer of NATS to a claim that would remove or hide what is folded or stored. */
export interface Testimony {
  /** What the answer suggests, in a sentence. It identifies the claim. */
  readonly claim: string;
  /** Whether this answer confirms it. */
  readonly isConfirmed: boolean;
  /** Servers that hold the stream: with a single one, the server that answers is the one that delivers. */
  readonly replicas: number;
}

export interface Suspicions {
  /**
   * Whether the claim is proven: all answers have confirmed it, at least two, and for 30 seconds if the stream is replicated. Soon after one
   * proof, two answers prove other claims. False if this answer refutes it.
   *
   * @throws NotProven in all other cases.
   */
  isProven(testimony: Testimony): boolean;
}

/** Remembers what answers of NATS have suggested, until it is proven or refuted. */
export function createSuspicions({ bootMs }: Pick<Clock, 'bootMs'>): Suspicions {
  const suspected = new Map<string, { readonly sinceMs: number; readonly lastMs: number }>();
  let provenAtMs = Number.NEGATIVE_INFINITY;
  return {
    isProven: ({ claim, isConfirmed, replicas }) => {
      const nowMs = bootMs();
      const known = suspected.get(claim);
      suspected.delete(claim);
      if (!isConfirmed) return false;
      const isRepeated = known !== undefined && nowMs - known.lastMs <= forgottenAfterMs;
      const sinceMs = isRepeated ? known.sinceMs : nowMs;
      suspected.set(claim, { sinceMs, lastMs: nowMs });
      const [oldest] = suspected.keys();
      if (suspected.size > claimsMax && oldest !== undefined) suspected.delete(oldest);
      const isSettled = replicas === 1 || nowMs - provenAtMs < replicatedMs;
      if (isRepeated && (isSettled || nowMs - sinceMs >= replicatedMs)) {
        provenAtMs = nowMs;
        return true;
      }
      throw new NotProven(
        `${claim}: this is not proven until repeated answers of NATS agree; nothing is changed`,
      );
    },
  };
}

/** Asks until everything that the answers suggest is proven or refuted. */
export function askUntilProven<Answer>(ask: () => Promise<Answer>): Promise<Answer> {
  const askAgain = (error: unknown) =>
    error instanceof NotProven ? timer(askAgainMs) : throwError(() => error);
  return lastValueFrom(defer(ask).pipe(retry({ delay: askAgain })));
}
