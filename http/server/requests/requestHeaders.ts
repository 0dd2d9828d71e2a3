import type { HttpRequest } from 'uWebSockets.js';
import type { Transport } from '../engine/uws.ts';

/** What is read of a request's headers. Those that are no list count with their first line; one that is missing is empty. */
export interface RequestHeaders {
  readonly host: string;
  readonly origin: string;
  readonly requestId: string;
  readonly acceptEncoding: string;
  /** All lines of it, with a line break between two. */
  readonly ifNoneMatch: string;
  /** All lines of it, as one list: a proxy may add a line of its own behind that of its client. */
  readonly forwardedFor: string;
  readonly lastEventId: string;
  readonly preflightMethod: string;
  /**
   * Another parser might see another length, and with it the beginning of another request, or another host: the connection of such a
   * request is closed (RFC 9112, 3.2 and 6.3). So it is with any `Transfer-Encoding`: no route reads a body, and the native engine takes trailers
   * of chunks for the next request.
   */
  readonly isAmbiguous: boolean;
}

/** Reads them in one pass: asking for single headers would cost as much, and shows only the first line of each. */
export function readRequestHeaders(request: HttpRequest, { forEachHeader }: Transport): RequestHeaders {
  let host: string | null = null;
  let origin = '';
  let requestId = '';
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
    acceptEncoding,
    ifNoneMatch,
    forwardedFor,
    lastEventId,
    preflightMethod,
    isAmbiguous,
  };
}
