import { z } from 'zod';
import { cursor, pageMax } from '../responses/pages.ts';
import type { Parameters, QueryParameter } from './route.ts';

/** Page size of the feed (CONTRACT.md, Event feed) and of lists of records. */
export const pageDefault = 40;

/**
 * The parameters of a list.
 *
 * @param same what the pages of a list have in common.
 */
export const listPageParameters = (
  pageSize: number,
  same: string,
): readonly [limit: QueryParameter, cursor: QueryParameter] => [
  {
    name: 'limit',
    description: `Page size, 1-${pageMax}`,
    schema: z.int().min(1).max(pageMax).meta({ default: pageSize }),
  },
  {
    name: 'cursor',
    description: `The \`nextCursor\` of the previous page with the same ${same}; omit for the first page`,
    schema: cursor,
  },
];

export const pageParameters = listPageParameters(pageDefault, 'parameters');

/** The page that a query asks for. */
export function readPage(parameters: Parameters, pageSize = pageDefault) {
  return { limit: Number(parameters.get('limit') ?? pageSize), cursor: parameters.get('cursor') ?? null };
}
