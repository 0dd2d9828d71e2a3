import type { HttpResponse } from 'uWebSockets.js';
import type { Clock } from '../../../actors/clock.ts';
import { type ErrorCode, type HttpError, helpLinks } from '../../routes/errors.ts';
import { type LeadingHeaders, prepareLeading } from '../engine/headerBlock.ts';
import { sendBody } from '../engine/sendBody.ts';
import type { Transport } from '../engine/uws.ts';
import type { RateVerdict } from '../limits/rateVerdict.ts';
import type { OnAnswered } from '../requests/answeredRequest.ts';
import type { AddressWords } from '../requests/ipAddress.ts';
import type { RequestHeaders } from '../requests/requestHeaders.ts';
import { requestIdHeader } from '../requests/requestId.ts';
import type { RouteCounts } from './httpMetrics.ts';
import { type EncodedResponse, jsonType } from './preparedResponse.ts';

/** One request and its response. Needed values are copied, since a request object of uWebSockets.js is invalid once its handler returns. */
export interface Exchange {
  readonly response: HttpResponse;
  readonly route: string;
  readonly counts: RouteCounts;
  /** When the request was seen, by the monotonic clock. */
  readonly seenAtMs: number;
  readonly isHead: boolean;
  /** Whether the request is for a page or a file for people, so that a browser gets errors as pages. */
  readonly isForPeople: boolean;
  readonly headers: RequestHeaders;
  readonly requestId: string;
  /** The request's origin if it is approved, else null. */
  readonly approvedOrigin: string | null;
  /** The client's remaining requests; null if clients are not limited. */
  limit: RateVerdict | null;
  /** Address of the client; null if clients are not limited. */
  client: AddressWords | null;
  isOfProxy: boolean;
  /** The peer has disconnected. Writing to the response would then crash the process. */
  isAborted: boolean;
  isAnswered: boolean;
}

/** Headers that scripts of an approved origin may read (CONTRACT.md, Origins). */
const exposedHeaders =
  'ETag, Link, RateLimit, RateLimit-Policy, Retry-After, X-Request-Id, X-Miner-Settlement-Source';
/** Headers that such scripts may send. */
const allowedHeaders = 'If-None-Match, Last-Event-ID, X-Request-Id';
/** First headers of responses that are not prepared. */
const computedLeading = prepareLeading(
  [
    ['Vary', 'Origin'],
    ['X-Content-Type-Options', 'nosniff'],
  ],
  requestIdHeader,
);
/** The engine sends it unless another one is written. */
const defaultStatus = '200 OK';
/** How long a browser may cache the answer to a preflight request. */
const preflightMaxAgeSeconds = 600;

/** Writes responses. Each of them carries the request's ID and `Vary`. */
export interface ResponseWriter {
  writePrepared(exchange: Exchange, prepared: EncodedResponse): void;
  writeNotModified(exchange: Exchange, prepared: EncodedResponse): void;
  writeError(exchange: Exchange, error: HttpError): void;
  /** Closes the connection without a response, so that the bytes behind a doubtful request are not read as another request. */
  closeConnection(exchange: Exchange, status: string): void;
  /** Answers a browser's preflight request from an approved origin. */
  writePreflight(exchange: Exchange): void;
  /**
   * Writes the headers of a response whose body the caller writes piece by piece.
   *
   * @returns null if the response is complete, since HEAD has no body.
   */
  beginStream(exchange: Exchange, contentType: string): HttpResponse | null;
  /** Writes a 200 of a health route, which must not be stored. */
  writeUncached(exchange: Exchange, contentType: string, body: Buffer): void;
}

/** Returns the page for an error of a request; null if the request gets it as JSON. */
export type FindRefusalPage = (exchange: Exchange, code: ErrorCode) => EncodedResponse | null;

interface ResponseWriterOptions {
  readonly transport: Transport;
  readonly clock: Clock;
  readonly isLeaving: () => boolean;
  readonly findRefusalPage: FindRefusalPage;
  /** Null if answered requests are not reported. */
  readonly onAnswered: OnAnswered | null;
}

export function createResponseWriter(options: ResponseWriterOptions): ResponseWriter {
  const { transport, clock, isLeaving, findRefusalPage, onAnswered } = options;

  function begin(exchange: Exchange, status: string): HttpResponse {
    exchange.isAnswered = true;
    const { response } = exchange;
    response.writeStatus(status);
    writeOwnHeaders(exchange, computedLeading);
    return response;
  }

  function beginPrepared(exchange: Exchange, headers: LeadingHeaders): HttpResponse {
    exchange.isAnswered = true;
    writeOwnHeaders(exchange, headers);
    return exchange.response;
  }

  /** Writes the prepared headers, with the headers that differ between requests around them. */
  function writeOwnHeaders(
    { response, requestId, approvedOrigin, limit }: Exchange,
    prepared: LeadingHeaders,
  ) {
    if (isLeaving()) response.writeHeader('Connection', 'close');
    if (approvedOrigin !== null) {
      response.writeHeader('Access-Control-Allow-Origin', approvedOrigin);
      response.writeHeader('Access-Control-Expose-Headers', exposedHeaders);
    }
    transport.writeLastHeader(response, prepared, requestId, limit?.headers ?? null);
  }

  /** Counts and reports a response that is written, or as much of it as the connection took. */
  function finish({ counts, seenAtMs, route, requestId }: Exchange, status: string) {
    const seconds = (clock.monotonicMs() - seenAtMs) / 1000;
    counts.answered(status, seconds);
    if (onAnswered !== null) onAnswered({ route, requestId, status, seconds });
  }

  function end(exchange: Exchange, status: string, body: Buffer) {
    if (exchange.isHead) transport.endWithoutBody(exchange.response, body.length);
    else
      sendBody(transport, exchange.response, body, () => {
        exchange.isAborted = true;
      });
    finish(exchange, status);
  }

  return {
    writePrepared: (exchange, { status, headers, body }) => {
      if (status !== defaultStatus) exchange.response.writeStatus(status);
      beginPrepared(exchange, headers);
      end(exchange, status, body());
    },
    writeNotModified: (exchange, { notModified }) => {
      exchange.response.writeStatus('304 Not Modified');
      transport.endWithoutBody(beginPrepared(exchange, notModified), null);
      finish(exchange, '304 Not Modified');
    },
    writeError: (exchange, { status, code, retryAfterSeconds }) => {
      const page = findRefusalPage(exchange, code);
      const { response } = exchange;
      if (page === null) {
        begin(exchange, status);
        response.writeHeader('Content-Type', jsonType);
        response.writeHeader('Cache-Control', 'no-store');
      } else {
        response.writeStatus(status);
        beginPrepared(exchange, page.headers);
      }
      response.writeHeader('Link', helpLinks[code]);
      // Lets the page that was refused read why, and nothing else.
      if (code === 'cors_origin_not_allowed') response.writeHeader('Access-Control-Allow-Origin', '*');
      if (retryAfterSeconds !== undefined) response.writeHeader('Retry-After', String(retryAfterSeconds));
      end(exchange, status, page?.body() ?? Buffer.from(JSON.stringify({ error: code })));
    },
    closeConnection: (exchange, status) => {
      exchange.isAnswered = true;
      finish(exchange, status);
      // After a response the parser would go on with the bytes behind the request.
      exchange.response.close();
    },
    writePreflight: (exchange) => {
      const response = begin(exchange, '204 No Content');
      response.writeHeader('Access-Control-Allow-Methods', 'GET, HEAD');
      response.writeHeader('Access-Control-Allow-Headers', allowedHeaders);
      response.writeHeader('Access-Control-Max-Age', String(preflightMaxAgeSeconds));
      transport.endWithoutBody(response, null);
      finish(exchange, '204 No Content');
    },
    beginStream: (exchange, contentType) => {
      const response = begin(exchange, '200 OK');
      response.writeHeader('Content-Type', contentType);
      response.writeHeader('Cache-Control', 'no-store');
      // Keeps proxies from buffering the stream.
      response.writeHeader('X-Accel-Buffering', 'no');
      // A stream has no length.
      if (exchange.isHead) transport.endWithoutBody(response, null);
      finish(exchange, '200 OK');
      return exchange.isHead ? null : response;
    },
    writeUncached: (exchange, contentType, body) => {
      const response = begin(exchange, '200 OK');
      response.writeHeader('Content-Type', contentType);
      response.writeHeader('Cache-Control', 'no-store');
      end(exchange, '200 OK', body);
    },
  };
}
