import { chooseDelayMs, sleep } from './attempts.ts';
import type { Answer, Body, Path, Requester, RequestOptions } from './request.ts';
import { mayPass } from './serviceError.ts';

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
  let etag: string | null = null;
  for (let failures = 0; ; ) {
    try {
      const answer: Answer<Body<At>> = await requester.once(path, parameters, {
        ...(signal && { signal }),
        etag,
      });
      failures = 0;
      etag = answer.etag;
      if (answer.body !== null) yield answer.body;
    } catch (error) {
      if (signal?.aborted) throw signal.reason;
      if (!mayPass(error)) throw error;
      failures++;
      onFailure?.(error);
      await sleep(chooseDelayMs(error, failures, requester.options), signal);
      continue;
    }
    await sleep(intervalMs, signal);
  }
}
