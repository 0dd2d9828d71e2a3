import type { Route } from '../../../http/routes/route.ts';

const exampleOwner = `0x${'ab'.repeat(20)}`;

const values: Record<string, string> = { installationId: 'wheel-1', address: exampleOwner, tokenId: '1' };

/** A path that a route answers with 200: a value for its parameter, and the queries that it cannot do without. */
export function examplePath(route: Route): string {
  const path = route.path.replace(/\{(\w+)\}/, (_, name: string) => values[name] ?? name);
  const query = typeof route.query === 'string' ? [] : route.query.filter(({ isRequired }) => isRequired);
  const required = query.map(({ name }) => `${name}=${name === 'owner' ? exampleOwner : '7d'}`);
  return required.length === 0 ? path : `${path}?${required.join('&')}`;
}
