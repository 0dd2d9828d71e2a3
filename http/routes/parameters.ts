import { z } from 'zod';
import { decodePercent } from '../addresses/recordPaths.ts';
import { cursor, pageMax } from '../responses/scalars.ts';
import type { Parameters, QueryParameter, Route } from './route.ts';

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

const isoTime = z.union([z.iso.datetime(), z.iso.date()]);
const time = z
  .string()
  .regex(/^\d{4}-\d\d-\d\d(?:T\d\d:\d\d(?::\d\d(?:\.\d{1,9})?)?Z)?$/)
  .refine((text) => isoTime.safeParse(text).success);

/**
 * The parameters of a list's times.
 *
 * @param selected what the times select, such as `rounds that begin`.
 */
export const listTimeParameters = (selected: string): readonly QueryParameter[] => [
  {
    name: 'from',
    description: `Only ${selected} at or after this time; a date is its beginning (UTC)`,
    schema: time.meta({ examples: ['2026-11-25'] }),
  },
  {
    name: 'to',
    description: `Only ${selected} before this time; a date is its beginning (UTC)`,
    schema: time.meta({ examples: ['2026-11-26T12:00:00Z'] }),
  },
];

/** The times of a query; null for any. */
export function readTimes(parameters: Parameters) {
  const read = (name: string) => {
    const text = parameters.get(name);
    // `Date.parse` cuts off what is finer than a millisecond: the times that are selected have none, so the next millisecond counts.
    return text === undefined ? null : Date.parse(text) + (/\.\d{3}0*[1-9]/.test(text) ? 1 : 0);
  };
  return { fromMs: read('from'), toMs: read('to') };
}

/** The value of the path's parameter; empty if the path has none, null if the route refuses the value. */
export function parsePathValue({ pathParameter }: Route, segment: string): string | null {
  return pathParameter === null ? '' : pathParameter.parse(decodePercent(segment));
}

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
