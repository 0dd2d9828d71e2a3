import { attempt, sleep } from './attempts.ts';
import type { Answer, Body, Path, Requester, RequestOptions } from './request.ts';

export interface PollOptions extends RequestOptions {
  /** Milliseconds between requests. Default: 2,000. */
  readonly intervalMs?: number;
  /** Called for each temporary failure, before the next attempt. */
  readonly onFailure?: (error: unknown) => void;
}

/**
 * Yields the body of a route, then every changed body. If the route has an `ETag`, unchanged bodies are not transferred. Temporary failures are
 * retried without a limit.
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
