/** What an `Origin` header means for an answer (CONTRACT.md, Origins). */
export type OriginVerdict = 'none' | 'approved' | 'refused';

/**
 * Approved are the configured origins alone. The request's own `Host` says nothing: a website may have its name resolved to this server. The
 * documentation page needs no approval, since browsers send no `Origin` with a page's requests to where it came from.
 */
export function createOriginCheck(allowedOrigins: readonly string[]): (origin: string) => OriginVerdict {
  const allowed = new Set(allowedOrigins);
  return (origin) => {
    if (origin === '') return 'none';
    return allowed.has(origin) ? 'approved' : 'refused';
  };
}
