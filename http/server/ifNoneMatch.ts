import type { HttpRequest } from 'uWebSockets.js';
import fresh from 'fresh';
import type { Transport } from './uws.ts';

/**
 * Whether `If-None-Match` names the current tag: exactly, in its weak form, in a comma-separated list, or as `*`
 * (CONTRACT.md, Common headers).
 */
export function matchesEtag(ifNoneMatch: string, etag: string): boolean {
  if (ifNoneMatch === '') return false;
  if (ifNoneMatch === etag) return true;
  return fresh({ 'if-none-match': ifNoneMatch.trim() }, { etag });
}

/**
 * The same for a request. Several lines count as one list; `getHeader` gives the first of them, and the others are read only
 * when it does not name the tag.
 */
export function hasMatchingEtag(request: HttpRequest, etag: string, { headerLines }: Transport): boolean {
  const first = request.getHeader('if-none-match');
  if (first === '') return false;
  if (matchesEtag(first, etag)) return true;
  return headerLines(request, 'if-none-match').some((line) => matchesEtag(line, etag));
}
