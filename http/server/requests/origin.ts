/** Whether every website may call the routes, by `*` instead of an origin. */
export const isOpenTo = (allowedOrigins: readonly string[]): boolean => allowedOrigins.includes('*');

/** Judgement of an `Origin` header (CONTRACT.md, Origins). */
type OriginVerdict = 'none' | 'approved' | 'refused';

/**
 * Approves only the configured origins, and every origin with `*`. A match with the request's `Host` proves nothing, since any website may resolve its name to
 * this server. The documentation page needs no approval: browsers send no `Origin` with same-origin GET requests.
 */
export function createOriginCheck(allowedOrigins: readonly string[]): (origin: string) => OriginVerdict {
  const allowed = new Set(allowedOrigins);
  const isOpen = isOpenTo(allowedOrigins);
  return (origin) => {
    if (origin === '') return 'none';
    return isOpen || allowed.has(origin) ? 'approved' : 'refused';
  };
}
