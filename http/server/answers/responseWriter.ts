import type { HttpResponse } from 'uWebSockets.js';
import fresh from 'fresh';
import type { Clock } from '../../../actors/clock.ts';
import type { ErrorCode, HttpError } from '../../routes/errors.ts';
import {
  type Header,
  type HeaderBlock,
  type LeadingHeaders,
  prepareHeaders,
  prepareLeading,
} from '../engine/headerBlock.ts';
import type { Transport } from '../engine/uws.ts';
import type { RateVerdict } from '../limits/rateLimiter.ts';
import type { AddressWords } from '../requests/ipAddress.ts';
import { type RequestHeaders, requestIdHeader } from '../requests/requestHeaders.ts';
import type { RouteCounts } from './httpMetrics.ts';
import { createEncodingChoice, type EncodedResponse, type PreparedResponse } from './preparedResponse.ts';

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
const allowedHeaders = 'Cache-Control, If-None-Match, Last-Event-ID, X-Request-Id';
/** First headers of responses that are not prepared. */
const computedLeading = prepareLeading([['X-Content-Type-Options', 'nosniff']], requestIdHeader);
/** The engine sends it unless another one is written. */
const defaultStatus = '200 OK';
/** How long a browser may cache the answer to a preflight request. */
const preflightMaxAgeSeconds = 600;

export type ResponseWriter = ReturnType<typeof createResponseWriter>;

/** Finds the response to a request that is answered with an error: JSON, or a page for people. */
export type FindErrorResponse = (exchange: Exchange, code: ErrorCode) => PreparedResponse;

interface ResponseWriterOptions {
  readonly transport: Transport;
  readonly clock: Clock;
  /** Whether every website may read every response. */
  readonly isOpen: boolean;
  readonly isLeaving: () => boolean;
  readonly findError: FindErrorResponse;
}

/** Writes responses. Each of them carries the request's ID, and what it depends on (`Vary`). */
export function createResponseWriter(options: ResponseWriterOptions) {
  const { transport, clock, isOpen, isLeaving, findError } = options;
  const chooseEncoding = createEncodingChoice();
  const [encodedOrigins, plainOrigins] = [describeOrigins(isOpen, true), describeOrigins(isOpen, false)];

  /** Writes the prepared headers, with the headers that differ between requests around them. */
  function begin(
    exchange: Exchange,
    status: string,
    prepared: LeadingHeaders,
    isCompressible = false,
  ): HttpResponse {
    const { response, requestId, approvedOrigin, limit } = exchange;
    exchange.isAnswered = true;
    if (status !== defaultStatus) response.writeStatus(status);
    if (isLeaving()) response.writeHeader('Connection', 'close');
    if (approvedOrigin !== null && !isOpen) {
      response.writeHeader('Access-Control-Allow-Origin', approvedOrigin);
      response.writeHeader('Access-Control-Expose-Headers', exposedHeaders);
    }
    const origins = isCompressible ? encodedOrigins : plainOrigins;
    transport.writeLastHeader(response, prepared, requestId, origins, limit?.headers ?? null);
    return response;
  }

  /** Counts a response that is written, or as much of it as the connection took. */
  function finish({ counts, seenAtMs }: Exchange, status: string) {
    counts.answered(status, (clock.monotonicMs() - seenAtMs) / 1000);
  }

  function encode({ headers }: Exchange, { isCompressible, encoded }: PreparedResponse): EncodedResponse {
    return encoded(isCompressible ? chooseEncoding(headers.acceptEncoding) : 'identity');
  }

  function write(exchange: Exchange, encoded: EncodedResponse, retryAfterSeconds?: number) {
    const { status, headers, isCompressible, body } = encoded;
    const response = begin(exchange, status, headers, isCompressible);
    if (retryAfterSeconds !== undefined) response.writeHeader('Retry-After', String(retryAfterSeconds));
    const bytes = body();
    if (exchange.isHead) transport.endWithoutBody(response, bytes.length);
    else
      transport.end(response, bytes, () => {
        exchange.isAborted = true;
      });
    finish(exchange, status);
  }

  function endEmpty(exchange: Exchange, status: string, response: HttpResponse) {
    transport.endWithoutBody(response, null);
    finish(exchange, status);
  }

  return {
    /** Sends a prepared response in the encoding that the client prefers. */
    send: (exchange: Exchange, prepared: PreparedResponse) => write(exchange, encode(exchange, prepared)),
    /** Answers 304 if `If-None-Match` names the tag. */
    sendConditionally: (exchange: Exchange, prepared: PreparedResponse) => {
      const encoded = encode(exchange, prepared);
      if (!matchesEtag(exchange.headers.ifNoneMatch, encoded.etag)) return write(exchange, encoded);
      const status = '304 Not Modified';
      endEmpty(exchange, status, begin(exchange, status, encoded.notModified, true));
    },
    writeError: (exchange: Exchange, { code, retryAfterSeconds }: HttpError) =>
      write(exchange, encode(exchange, findError(exchange, code)), retryAfterSeconds),
    /** Closes the connection without a response, so that the bytes behind a doubtful request are not read as another request. */
    closeConnection: (exchange: Exchange, status: string) => {
      exchange.isAnswered = true;
      finish(exchange, status);
      exchange.response.close();
    },
    /** Answers a browser's preflight request from an approved origin. */
    writePreflight: (exchange: Exchange) => {
      const status = '204 No Content';
      const response = begin(exchange, status, computedLeading);
      response.writeHeader('Access-Control-Allow-Methods', 'GET, HEAD');
      response.writeHeader('Access-Control-Allow-Headers', allowedHeaders);
      response.writeHeader('Access-Control-Max-Age', String(preflightMaxAgeSeconds));
      endEmpty(exchange, status, response);
    },
    /**
     * Writes the headers of a response whose body the caller writes piece by piece.
     *
     * @returns null if the response is complete, since HEAD has no body.
     */
    beginStream: (exchange: Exchange, contentType: string): HttpResponse | null => {
      const response = begin(exchange, defaultStatus, computedLeading);
      response.writeHeader('Content-Type', contentType);
      // A proxy that compresses the stream would hold its messages back.
      response.writeHeader('Cache-Control', 'no-store, no-transform');
      // Keeps proxies from buffering the stream.
      response.writeHeader('X-Accel-Buffering', 'no');
      // A stream has no length.
      if (exchange.isHead) transport.endWithoutBody(response, null);
      finish(exchange, defaultStatus);
      return exchange.isHead ? null : response;
    },
  };
}

/** Headers about the origins that may read a response. If every website may, it is the same for all of them. */
function describeOrigins(isOpen: boolean, isCompressible: boolean): HeaderBlock {
  const varying = [...(isCompressible ? ['Accept-Encoding'] : []), ...(isOpen ? [] : ['Origin'])];
  const headers: Header[] = varying.length === 0 ? [] : [['Vary', varying.join(', ')]];
  if (isOpen)
    headers.push(['Access-Control-Allow-Origin', '*'], ['Access-Control-Expose-Headers', exposedHeaders]);
  return prepareHeaders(headers);
}

/**
 * Whether `If-None-Match` names the current tag: exactly, in its weak form, in a comma-separated list, or as `*`
 * (CONTRACT.md, Common headers).
 *
 * @param ifNoneMatch the header's lines, joined by line breaks.
 */
function matchesEtag(ifNoneMatch: string, etag: string | null): boolean {
  if (ifNoneMatch === '' || etag === null) return false;
  if (ifNoneMatch === etag) return true;
  return ifNoneMatch.split('\n').some((line) => fresh({ 'if-none-match': line.trim() }, { etag }));
}
