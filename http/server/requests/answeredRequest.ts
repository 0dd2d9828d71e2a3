import type { Logger } from 'pino';

interface AnsweredRequest {
  /** As the contract writes it, with `{name}` for a parameter. */
  readonly route: string;
  readonly requestId: string;
  /** As it was sent, such as `200 OK`. */
  readonly status: string;
  readonly seconds: number;
  /** `traceparent` of the request (W3C Trace Context); empty without one. */
  readonly traceparent: string;
}

/** Receives each answered request; costs nothing where there is none. */
export type OnAnswered = (request: AnsweredRequest) => void;

export function createAccessLog(logger: Logger, oneOf: number): OnAnswered {
  let count = 0;
  return ({ route, requestId, status, seconds }) => {
    count = (count + 1) % oneOf;
    if (count !== 0) return;
    const durationMs = Math.round(seconds * 1e6) / 1e3;
    logger.info({ requestId, route, status: Number(status.slice(0, 3)), durationMs, oneOf }, 'request');
  };
}
