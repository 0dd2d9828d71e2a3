import { z } from 'zod';
import { cursor, pageMax } from '../responses/pages.ts';
import { parseExactQuery, parsePageLimit } from './parseExactQuery.ts';
import type { QueryParameter } from './route.ts';

/** Page size of the feed (CONTRACT.md, Event feed) and of lists of records. */
export const pageDefault = 40;

/** @param pageSize used without the parameter. */
export const defineLimit = (pageSize: number): QueryParameter => ({
  name: 'limit',
  description: `Page size, 1-${pageMax}`,
  schema: z.int().min(1).max(pageMax).meta({ default: pageSize }),
});
export const limitParameter = defineLimit(pageDefault);

export const pageParameters: readonly QueryParameter[] = [
  limitParameter,
  {
    name: 'cursor',
    description: 'The `nextCursor` of the previous page with the same parameters; omit for the first page',
    schema: cursor,
  },
];

/**
 * Parses the query of a list; null if it is invalid.
 *
 * @param others names of the list's other parameters.
 */
export function parsePage(query: URLSearchParams, others: readonly string[] = []) {
  const parameters = parseExactQuery(query, ['limit', 'cursor', ...others]);
  const limit = parsePageLimit(parameters?.get('limit'), pageDefault);
  const after = parameters?.get('cursor') ?? null;
  if (parameters === null || limit === null) return null;
  return after !== null && !cursor.safeParse(after).success ? null : { parameters, limit, cursor: after };
}
