import fresh from 'fresh';

/**
 * Whether `If-None-Match` names the current tag: exactly, in its weak form, in a comma-separated list, or as `*`
 * (CONTRACT.md, Common headers).
 *
 * @param ifNoneMatch the header's lines, joined by line breaks.
 */
export function matchesEtag(ifNoneMatch: string, etag: string): boolean {
  if (ifNoneMatch === '') return false;
  if (ifNoneMatch === etag) return true;
  return ifNoneMatch.split('\n').some((line) => fresh({ 'if-none-match': line.trim() }, { etag }));
}
