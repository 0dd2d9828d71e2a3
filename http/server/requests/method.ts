import type { HttpRequest } from 'uWebSockets.js';

/** The methods that are told apart: GET and HEAD are answered, and OPTIONS of a preflight request (CONTRACT.md, Requests). */
export type Method = 'get' | 'head' | 'options' | 'other';

/** The native engine writes the method in lower case, the fallback in upper case. */
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
