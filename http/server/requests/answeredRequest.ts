import type { Logger } from 'pino';

interface AnsweredRequest {
  /** Path as in the contract, with `{name}` for a parameter. */
  readonly route: string;
  readonly requestId: string;
  /** Status line as sent, such as `200 OK`. */
  readonly status: string;
  readonly seconds: number;
}

/** Receives each answered request. */
export type OnAnswered = (request: AnsweredRequest) => void;

/** @param oneOf logs every n-th request, where n is this number. */
export function createAccessLog(logger: Logger, oneOf: number): OnAnswered {
  let count = 0;
  return ({ route, requestId, status, seconds }) => {
    count = (count + 1) % oneOf;
    if (count !== 0) return;
    const durationMs = Math.round(seconds * 1e6) / 1e3;
    logger.info({ requestId, route, status: Number(status.slice(0, 3)), durationMs, oneOf }, 'request');
  };
}
