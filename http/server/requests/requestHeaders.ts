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
