import { attempt, sleep } from './attempts.ts';
import type { Answer, Body, Path, Requester, RequestOptions } from './request.ts';

export interface PollOptions extends RequestOptions {
  /** Milliseconds between requests, 2,000 unless it is given. */
  readonly intervalMs?: number;
  /** Called for each failure that may pass, before it is tried again. */
  readonly onFailure?: (error: unknown) => void;
}

/**
 * The body of a route, and each that differs from the one before. Only what changed is transferred where the route has an `ETag`. What may pass is
 * tried again for as long as it takes.
 */
export async function* poll<At extends Path>(
  requester: Requester,
  path: At,
  parameters: object,
  { signal, intervalMs = 2_000, onFailure }: PollOptions,
): AsyncGenerator<Body<At>, never> {
  const settings = { ...requester.options, attemptsMax: Number.POSITIVE_INFINITY, onFailure };
  for (let etag: string | null = null; ; await sleep(intervalMs, signal)) {
    const asked = { ...(signal && { signal }), etag };
    const answer: Answer<Body<At>> = await attempt(
      () => requester.once(path, parameters, asked),
      settings,
      signal,
    );
    etag = answer.etag;
    if (answer.body !== null) yield answer.body;
  }
}
