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
export function parsePageLimit(given: string | undefined, byDefault: number): number | null {
  if (given === undefined) return byDefault;
  return /^(?:[1-9]\d?|100)$/.test(given) ? Number(given) : null;
}
