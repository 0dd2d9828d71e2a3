import fresh from 'fresh';

/**
 * Whether `If-None-Match` names the current tag: exactly, in its weak form, in a comma-separated list, or as `*`
 * (CONTRACT.md, Common headers).
 *
 * @param ifNoneMatch lines of the header, with a line break between two.
 */
export function matchesEtag(ifNoneMatch: string, etag: string): boolean {
  if (ifNoneMatch === '') return false;
  if (ifNoneMatch === etag) return true;
  return ifNoneMatch.split('\n').some((line) => fresh({ 'if-none-match': line.trim() }, { etag }));
}
