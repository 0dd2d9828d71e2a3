import { routes } from '../../../http/routes/routes.ts';

/** Paths of the routes without required parameters. */
export function listPlainPaths(): string[] {
  return routes
    .filter(({ pathParameter, query }) => {
      const needsQuery = typeof query !== 'string' && query.some(({ isRequired }) => isRequired);
      return pathParameter === null && !needsQuery;
    })
    .map(({ path }) => path);
}
