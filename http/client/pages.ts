import type { Body, Path, Requester, RequestOptions } from './request.ts';
import type { Routes } from './responses.ts';
import { ServiceError } from './serviceError.ts';

export type PagedPath = {
  [At in Path]: 'cursor' extends keyof Routes[At]['query'] ? At : never;
}[Path];

export interface Page<Result> {
  readonly body: Result;
  /** The pages before it are of a state that is gone: what was made of them is to be forgotten, and this is the first one of another state. */
  readonly isRestart: boolean;
}

/** The state of a list may go so often while it is read. */
const restartsMax = 5;

/**
 * All pages of a list, each read when it is asked for, all of one state. Where that state goes meanwhile (a reorganization, or a client that takes very
 * long), the list begins again with `isRestart`.
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
      // The public routes of owners say it this way, and the same when the chain is unavailable: then the first page says it again.
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
