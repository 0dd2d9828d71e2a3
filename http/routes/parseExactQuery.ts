import { pageMax } from '../responses/pages.ts';

/** @returns the parameters of a query; null if one repeats or is not in `names`. */
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

/** @param value a canonical decimal from 1 to {@link pageMax}. @returns the page size; null for any other value. */
export function parsePageLimit(value: string | undefined, defaultLimit: number): number | null {
  if (value === undefined) return defaultLimit;
  const limit = Number(value);
  return Number.isInteger(limit) && limit > 0 && limit <= pageMax && String(limit) === value ? limit : null;
}
