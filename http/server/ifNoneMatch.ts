import fresh from 'fresh';

/**
 * Whether `If-None-Match` names the current tag: exactly, in its weak form, in a comma-separated list, or as `*`
 * (CONTRACT.md, Common headers).
 */
export function matchesEtag(ifNoneMatch: string, etag: string): boolean {
  if (ifNoneMatch === '') return false;
  if (ifNoneMatch === etag) return true;
  return fresh({ 'if-none-match': ifNoneMatch.trim() }, { etag });
}
