/** Immediate attempts after the clock was put back: at least one for each server of a cluster. */
const promptAttempts = 8;

interface ReconnectDelayOptions {
  readonly waitMs: number;
  /** Upper bound of the random addition. */
  readonly jitterMs: number;
  /** The wall clock, by which the client measures the time since it last tried a server. */
  readonly wallMs: () => number;
  readonly random: () => number;
}

/**
 * Returns how long the client waits before it tries a server again; the client asks before each attempt and while it waits. If the clock
 * was put back, the last attempts lie in the future, and the client would wait for the whole difference. The wait does not grow like other
 * retries (`machines/backoff.ts`): the client goes round the servers of a cluster and does not tell how often it has failed.
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
