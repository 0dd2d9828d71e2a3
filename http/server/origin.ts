/** What an `Origin` header means for an answer (CONTRACT.md, Origins). */
export type OriginVerdict = 'none' | 'approved' | 'refused';

/**
 * Approved are the configured origins and the service's own, since its documentation page sends requests to it.
 */
export function createOriginCheck(
  allowedOrigins: readonly string[],
): (origin: string, host: string) => OriginVerdict {
  const allowed = new Set(allowedOrigins);
  return (origin, host) => {
    if (origin === '') return 'none';
    if (allowed.has(origin)) return 'approved';
    const isOwn = host !== '' && (origin === `http://${host}` || origin === `https://${host}`);
    return isOwn ? 'approved' : 'refused';
  };
}
