import type { HttpRequest } from 'uWebSockets.js';

/** GET and HEAD are answered, OPTIONS where a browser asks for permission; every other method is an endpoint that does not exist (CONTRACT.md, Requests). */
export type Method = 'get' | 'head' | 'options' | 'other';

/** Read once per request that is not a GET, since each question crosses into the addon. The native engine writes it in small letters, the fallback in capitals. */
export function readMethod(request: HttpRequest): Method {
  switch (request.getMethod()) {
    case 'get':
    case 'GET':
      return 'get';
    case 'head':
    case 'HEAD':
      return 'head';
    case 'options':
    case 'OPTIONS':
      return 'options';
    default:
      return 'other';
  }
}
