import type { z } from 'zod';
import type { Parameters, Route } from './route.ts';

/** @returns the parameters of a query; null if one repeats or is not in `names`. */
export function parseExactQuery(query: URLSearchParams, names: readonly string[]): Parameters | null {
  const found = new Map<string, string>();
  for (const [name, value] of query) {
    if (!names.includes(name) || found.has(name)) return null;
    found.set(name, value);
  }
  return found;
}

/** @returns the parameters of a route's query; null if one is unknown, repeated, missing or invalid. */
export function parseQuery(
  { query, isQueryLenient }: Pick<Route, 'query' | 'isQueryLenient'>,
  search: string,
): Parameters | null {
  // A route without parameters is refused before.
  if (typeof query === 'string') return new Map();
  const given = new URLSearchParams(search);
  const names = query.map(({ name }) => name);
  if (isQueryLenient === true) return new Map([...given].reverse().filter(([name]) => names.includes(name)));
  const found = parseExactQuery(given, names);
  const isInvalid = query.some(({ name, schema, isRequired, isOpaque }) => {
    const value = found?.get(name);
    return value === undefined ? isRequired === true : isOpaque !== true && !fits(schema, value);
  });
  return isInvalid ? null : found;
}

/** Whether a schema accepts a text, or the number that it is written as. */
function fits(schema: z.ZodType, text: string): boolean {
  if (schema.safeParse(text).success) return true;
  const number = Number(text);
  return String(number) === text && schema.safeParse(number).success;
}
