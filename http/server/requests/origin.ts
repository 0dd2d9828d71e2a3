/** Instead of origins: every website may call the routes. */
const anyOrigin = '*';

/** Judgement of an `Origin` header (CONTRACT.md, Origins). */
type OriginVerdict = 'none' | 'approved' | 'refused';

/**
 * Approves only the configured origins, and every origin with `*`. A match with the request's `Host` proves nothing, since any website may resolve its name to
 * this server. The documentation page needs no approval: browsers send no `Origin` with same-origin GET requests.
 */
export function createOriginCheck(allowedOrigins: readonly string[]): (origin: string) => OriginVerdict {
  const allowed = new Set(allowedOrigins);
  const isOpen = allowed.has(anyOrigin);
  return (origin) => {
    if (origin === '') return 'none';
    return isOpen || allowed.has(origin) ? 'approved' : 'refused';
  };
}
