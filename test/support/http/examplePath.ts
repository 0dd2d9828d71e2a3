import type { Route } from '../../../http/routes/route.ts';

const owner = `0x${'ab'.repeat(20)}`;

/**
 * Returns a path that a route answers with 200, with its parameter and its required query.
 *
 * @throws Error for a parameter without a known example.
 */
export function examplePath(route: Route): string {
  const values: Record<string, string> = {
    installationId: 'wheel-1',
    address: owner,
    owner,
    tokenId: '1',
    range: '7d',
    date: '2026-01-31',
    eventId: 'chain:1:x',
    transactionHash: `0x${'cd'.repeat(32)}`,
    round: '1',
    q: 'yesterday',
  };
  const findValue = (name: string) => {
    const value = values[name];
    if (value === undefined) throw new Error(`${route.path}: no example of ${name} is known`);
    return value;
  };
  const path = route.path.replace(/\{(\w+)\}/, (_, name: string) => findValue(name));
  const query = typeof route.query === 'string' ? [] : route.query.filter(({ isRequired }) => isRequired);
  const required = query.map(({ name }) => `${name}=${findValue(name)}`);
  return required.length === 0 ? path : `${path}?${required.join('&')}`;
}
