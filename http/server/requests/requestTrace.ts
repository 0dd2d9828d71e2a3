import type { HttpRequest } from 'uWebSockets.js';
import type { Transport } from '../engine/uws.ts';

/** A request as it arrived. */
export interface TracedRequest {
  /** As sent, in upper case. */
  readonly method: string;
  readonly path: string;
  /** Without its question mark; empty without a query. */
  readonly query: string;
  /** Path as in the contract, with `{name}` for a parameter; null if no route has the path. */
  readonly route: string | null;
  readonly requestId: string;
  /** Headers of W3C Trace Context; empty without one. Lines of `tracestate` are one list. */
  readonly traceparent: string;
  readonly tracestate: string;
}

/** The trace of one request, which begins when the request arrives. */
export interface RequestTrace {
  /** Runs work on behalf of the request. Its reads of the database become a part of the trace. */
  run<Result>(work: () => Result): Result;
  /** @param status the status line as sent, such as `200 OK`; null if the client left before the response. */
  end(status: string | null): void;
}

export type BeginTrace = (request: TracedRequest) => RequestTrace;

/** Reads what a trace shows of a request. */
export function readTracedRequest(
  request: HttpRequest,
  transport: Transport,
  about: Pick<TracedRequest, 'route' | 'requestId'>,
): TracedRequest {
  let traceparent = '';
  const states: string[] = [];
  transport.forEachHeader(request, (name, value) => {
    if (name === 'traceparent') traceparent ||= value;
    if (name === 'tracestate') states.push(value);
  });
  return {
    ...about,
    method: request.getMethod().toUpperCase(),
    path: transport.path(request),
    query: transport.query(request),
    traceparent,
    tracestate: states.join(','),
  };
}
