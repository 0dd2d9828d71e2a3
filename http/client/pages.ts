import type { Body, Path, Requester, RequestOptions } from './request.ts';
import type { Routes } from './responses.ts';
import { ServiceError } from './serviceError.ts';

export type PagedPath = {
  [At in Path]: 'cursor' extends keyof Routes[At]['query'] ? At : never;
}[Path];

export interface Page<Result> {
  readonly body: Result;
  /** The list starts again with this page, since the state of the earlier pages is gone: discard their contents. */
  readonly isRestart: boolean;
}

/** How often a list may start again. */
const restartsMax = 5;

/**
 * Yields all pages of a list, all of one state. Each page is read when it is asked for. If the state is gone by then, after a reorganization or a very
 * long pause, the list starts again with `isRestart`.
 */
export async function* readPages<At extends PagedPath>(
  requester: Requester,
  path: At,
  parameters: object,
  asked: RequestOptions,
): AsyncGenerator<Page<Body<At>>, void> {
  let cursor: string | null = null;
  let isRestart = false;
  for (let restarts = 0; ; ) {
    let body: Body<At>;
    try {
      body = await requester.get(path, { ...parameters, ...(cursor !== null && { cursor }) }, asked);
      // Public owner routes answer this way if the state is gone. They also do if the chain is unavailable; then the first page says so again.
      if (cursor !== null && isUnavailable(body)) throw new StateGone();
    } catch (error) {
      if (cursor === null || !isStateGone(error) || ++restarts > restartsMax) throw error;
      cursor = null;
      isRestart = true;
      continue;
    }
    yield { body, isRestart };
    isRestart = false;
    cursor = findNextCursor(body);
    if (cursor === null) return;
  }
}

class StateGone extends Error {
  override readonly name = 'StateGone';
}

function isStateGone(error: unknown): boolean {
  const codes: readonly (string | null)[] = ['cursor_invalidated', 'invalid_cursor'];
  return error instanceof StateGone || (error instanceof ServiceError && codes.includes(error.code));
}

function isUnavailable(body: object): boolean {
  return 'status' in body && body.status === 'unavailable';
}

function findNextCursor(body: object): string | null {
  return 'nextCursor' in body && typeof body.nextCursor === 'string' ? body.nextCursor : null;
}
