import type { HttpRequest } from 'uWebSockets.js';
import { randomBytes } from 'node:crypto';
import type { Transport } from '../engine/uws.ts';

/** The headers that are read. A missing header is empty. If a header that is not a list repeats, its first line counts. */
export interface RequestHeaders {
  readonly host: string;
  readonly origin: string;
  readonly requestId: string;
  readonly accept: string;
  readonly acceptEncoding: string;
  /** All lines, joined by line breaks. */
  readonly ifNoneMatch: string;
  /** All lines as one list, since a proxy may add a line instead of extending its client's. */
  readonly forwardedFor: string;
  readonly lastEventId: string;
  readonly preflightMethod: string;
  /**
   * Whether another parser might see another length or host, and so another request. The connection is then closed (RFC 9112, 3.2
   * and 6.3). `Transfer-Encoding` is always ambiguous: no route reads a body, and the native engine reads chunk trailers as the next request.
   */
  readonly isAmbiguous: boolean;
}

type Writable<Value> = { -readonly [Name in keyof Value]: Value[Name] };

/** Reads all headers in one pass. Single look-ups would cost as much, and show only the first line of each header. */
export function readRequestHeaders(request: HttpRequest, { forEachHeader }: Transport): RequestHeaders {
  const headers: Writable<RequestHeaders> = {
    host: '',
    origin: '',
    requestId: '',
    accept: '',
    acceptEncoding: '',
    ifNoneMatch: '',
    forwardedFor: '',
    lastEventId: '',
    preflightMethod: '',
    isAmbiguous: false,
  };
  let hasHost = false;
  let hasLength = false;
  forEachHeader(request, (name, value) => {
    switch (name) {
      case 'host':
        if (hasHost) headers.isAmbiguous = true;
        else headers.host = value;
        hasHost = true;
        break;
      case 'content-length':
        if (hasLength || !/^\d+$/.test(value)) headers.isAmbiguous = true;
        hasLength = true;
        break;
      case 'transfer-encoding':
        headers.isAmbiguous = true;
        break;
      case 'origin':
        headers.origin ||= value;
        break;
      case 'x-request-id':
        headers.requestId ||= value;
        break;
      case 'accept':
        headers.accept ||= value;
        break;
      case 'accept-encoding':
        headers.acceptEncoding ||= value;
        break;
      case 'if-none-match':
        headers.ifNoneMatch += headers.ifNoneMatch === '' ? value : `\n${value}`;
        break;
      case 'x-forwarded-for':
        headers.forwardedFor += headers.forwardedFor === '' ? value : `, ${value}`;
        break;
      case 'last-event-id':
        headers.lastEventId ||= value;
        break;
      case 'access-control-request-method':
        headers.preflightMethod ||= value;
        break;
    }
  });
  return headers;
}

/** Whether every website may call the routes, by `*` instead of an origin. */
export const isOpenTo = (allowedOrigins: readonly string[]): boolean => allowedOrigins.includes('*');

/** Judgement of an `Origin` header (CONTRACT.md, Origins). */
type OriginVerdict = 'none' | 'approved' | 'refused';

/**
 * Approves only the configured origins, and every origin with `*`. A match with the request's `Host` proves nothing, since any website may resolve its name to
 * this server. The documentation page needs no approval: browsers send no `Origin` with same-origin GET requests.
 */
export function createOriginCheck(allowedOrigins: readonly string[]): (origin: string) => OriginVerdict {
  const allowed = new Set(allowedOrigins);
  const isOpen = isOpenTo(allowedOrigins);
  return (origin) => {
    if (origin === '') return 'none';
    return isOpen || allowed.has(origin) ? 'approved' : 'refused';
  };
}

export const requestIdHeader = 'X-Request-Id';

/** CONTRACT.md, Common headers. */
const wellFormed = /^[A-Za-z0-9._:-]{8,128}$/;

/** @returns a function that chooses a request's ID: the requested one if it is well-formed, else one that is unique across processes. */
export function createRequestIds(): (requested: string) => string {
  const prefix = randomBytes(6).toString('hex');
  let count = 0;
  return (requested) =>
    wellFormed.test(requested) ? requested : `${prefix}-${(count++).toString(36).padStart(6, '0')}`;
}
