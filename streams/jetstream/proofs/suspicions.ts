import { defer, lastValueFrom, retry, throwError, timer } from 'rxjs';
import type { Clock } from '../../../actors/clock.ts';

/**
 * How long every answer about a replicated stream has to agree. A leader may not have applied yet what another server has delivered, and one
 * that was replaced may answer for 20 seconds more: it notices every 10 seconds whether it was heard in the 10 seconds before.
 */
const replicatedMs = 30_000;
/** Answers further apart do not count as one series. */
const seriesGapMs = 30_000;
/** Least number of answers that prove a claim. */
const answersMin = { single: 2, replicated: 4 } as const;
/** More claims than are under suspicion at the same time: snapshots and newest rows of one stream. */
const claimsMax = 1_024;
const askAgainMs = 500;

/** An answer contradicts what is folded or stored, which proves nothing yet. Ask again, and change nothing until then. */
export class NotProven extends Error {
  override readonly name = 'NotProven';
}

/** An answer of NATS to a claim that would leave out what is folded or stored. */
export interface Testimony {
  /** The suggestion of the answer, in a sentence. It identifies the claim. */
  readonly claim: string;
  /** Whether this answer confirms it. */
  readonly isConfirmed: boolean;
  /** When the question was asked (`Clock.bootMs`): an answer says nothing about a later time. */
  readonly askedAtMs: number;
  /** Servers that hold the stream: a single one both answers and delivers. */
  readonly replicas: number;
}

/** Answers that have confirmed a claim one after another. */
interface Series {
  /** When the first one arrived. */
  readonly sinceMs: number;
  readonly lastMs: number;
  readonly answers: number;
}

export type Suspicions = ReturnType<typeof createSuspicions>;

/** Remembers what answers of NATS have suggested, until it is proven or refuted. */
export function createSuspicions({ bootMs }: Pick<Clock, 'bootMs'>) {
  const suspected = new Map<string, Series>();
  return {
    /**
     * Whether the claim is proven: an unbroken series of two answers has confirmed it, or of four over 30 seconds if the stream is
     * replicated. False if this answer refutes it.
     *
     * @throws NotProven in all other cases.
     */
    isProven: ({ claim, isConfirmed, askedAtMs, replicas }: Testimony) => {
      const known = suspected.get(claim);
      suspected.delete(claim);
      if (!isConfirmed) return false;
      const nowMs = bootMs();
      const isContinued = known !== undefined && askedAtMs - known.lastMs <= seriesGapMs;
      const sinceMs = isContinued ? known.sinceMs : nowMs;
      const answers = isContinued ? known.answers + 1 : 1;
      suspected.set(claim, { sinceMs, lastMs: nowMs, answers });
      const [oldest] = suspected.keys();
      if (suspected.size > claimsMax && oldest !== undefined) suspected.delete(oldest);
      const [neededMs, needed] =
        replicas === 1 ? [0, answersMin.single] : [replicatedMs, answersMin.replicated];
      if (answers >= needed && askedAtMs - sinceMs >= neededMs) return true;
      throw new NotProven(
        `${claim}: this is not proven until repeated answers of NATS agree; nothing is changed`,
      );
    },
  };
}

/** Resolves with the failure while an answer is not proven, so that other questions are asked meanwhile. */
export async function orNotProven<Answer>(ask: () => Answer | Promise<Answer>): Promise<Answer | NotProven> {
  try {
    return await ask();
  } catch (error) {
    if (error instanceof NotProven) return error;
    throw error;
  }
}

/** Asks until everything that the answers suggest is proven or refuted, or nobody waits for it. */
export function askUntilProven<Answer>(
  ask: () => Promise<Answer>,
  isAwaited: () => boolean = () => true,
): Promise<Answer> {
  const askAgain = (error: unknown) =>
    error instanceof NotProven && isAwaited() ? timer(askAgainMs) : throwError(() => error);
  return lastValueFrom(defer(ask).pipe(retry({ delay: askAgain })));
}
