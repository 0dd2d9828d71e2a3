/** Attempts that follow at once after the clock was put back: as many as a cluster has servers, or more. */
const promptAttempts = 8;

interface ReconnectDelayOptions {
  readonly waitMs: number;
  /** At most so much is added to it. */
  readonly jitterMs: number;
  /** The wall clock, by which the client measures the time since it last tried a server. */
  readonly wallMs: () => number;
  readonly random: () => number;
}

/**
 * How long the client waits before it tries a server again; it asks before each attempt, and while it waits. Where the clock was put back since it
 * last asked, its last attempts lie in the future, and it would wait for as long as the clock was put back by. The wait does not grow as those of
 * other retries do (`machines/backoff.ts`): the client asks without saying how often it has failed, and goes round the servers of a cluster.
 */
export function createReconnectDelay(options: ReconnectDelayOptions): () => number {
  const { waitMs, jitterMs, wallMs, random } = options;
  let askedAtMs = wallMs();
  let promptLeft = 0;
  return () => {
    const nowMs = wallMs();
    if (nowMs < askedAtMs) promptLeft = promptAttempts;
    askedAtMs = nowMs;
    if (promptLeft === 0) return waitMs + random() * jitterMs;
    promptLeft--;
    return Number.NEGATIVE_INFINITY;
  };
}
