import type { HttpRequest } from 'uWebSockets.js';
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

/** Reads all headers in one pass. Single look-ups would cost as much, and show only the first line of each header. */
export function readRequestHeaders(request: HttpRequest, { forEachHeader }: Transport): RequestHeaders {
  let host: string | null = null;
  let origin = '';
  let requestId = '';
  let accept = '';
  let acceptEncoding = '';
  let ifNoneMatch = '';
  let forwardedFor = '';
  let lastEventId = '';
  let preflightMethod = '';
  let hasLength = false;
  let isAmbiguous = false;
  forEachHeader(request, (name, value) => {
    switch (name) {
      case 'host':
        if (host !== null) isAmbiguous = true;
        host ??= value;
        break;
      case 'content-length':
        if (hasLength || !/^\d+$/.test(value)) isAmbiguous = true;
        hasLength = true;
        break;
      case 'transfer-encoding':
        isAmbiguous = true;
        break;
      case 'origin':
        origin ||= value;
        break;
      case 'x-request-id':
        requestId ||= value;
        break;
      case 'accept':
        accept ||= value;
        break;
      case 'accept-encoding':
        acceptEncoding ||= value;
        break;
      case 'if-none-match':
        ifNoneMatch = ifNoneMatch === '' ? value : `${ifNoneMatch}\n${value}`;
        break;
      case 'x-forwarded-for':
        forwardedFor = forwardedFor === '' ? value : `${forwardedFor}, ${value}`;
        break;
      case 'last-event-id':
        lastEventId ||= value;
        break;
      case 'access-control-request-method':
        preflightMethod ||= value;
        break;
    }
  });
  return {
    host: host ?? '',
    origin,
    requestId,
    accept,
    acceptEncoding,
    ifNoneMatch,
    forwardedFor,
    lastEventId,
    preflightMethod,
    isAmbiguous,
  };
}
