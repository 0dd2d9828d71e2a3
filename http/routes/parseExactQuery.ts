/**
 * The parameters of a query that may hold each of `names` once and nothing else; null for any other query.
 */
export function parseExactQuery(
  query: URLSearchParams,
  names: readonly string[],
): ReadonlyMap<string, string> | null {
  const found = new Map<string, string>();
  for (const [name, value] of query) {
    if (!names.includes(name) || found.has(name)) return null;
    found.set(name, value);
  }
  return found;
}

/** A page size as a canonical decimal from 1 to 100; null for anything else. */
export function parsePageLimit(value: string | undefined, defaultLimit: number): number | null {
  if (value === undefined) return defaultLimit;
  return /^(?:[1-9]\d?|100)$/.test(value) ? Number(value) : null;
}
