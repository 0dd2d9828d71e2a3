import { describe, expect, it } from 'vitest';
import { routes } from '../../http/routes/routes.ts';
import { recordPaths, sharedPaths } from '../../http/server/pages/explorerPages.ts';
import { examplePath } from '../support/http/examplePath.ts';
import { startPublicServer } from '../support/http/publicServer.ts';
import { shareInFile } from '../support/processes/lifetime.ts';

/** What Varnish keeps by default if a response does not say how long. Other caches keep some, too (RFC 9111, 4.2.2). */
const heuristicSeconds = 120;
/** Statuses that may be kept without being told so (RFC 9110, 15.1). */
const keptStatuses = [200, 203, 204, 206, 300, 301, 308, 404, 405, 410, 414, 501];

/** @returns how long a shared cache answers with its copy instead of asking. */
function countKeptSeconds({ status, headers }: Response): number {
  const cacheControl = headers.get('cache-control');
  if (/no-store|no-cache|private/.test(cacheControl ?? '')) return 0;
  const maxAge = /max-age=(\d+)/.exec(cacheControl ?? '')?.[1];
  if (maxAge !== undefined) return Number(maxAge);
  const expires = headers.get('expires');
  if (expires !== null) return Math.max(0, (Date.parse(expires) - Date.now()) / 1_000);
  return keptStatuses.includes(status) ? heuristicSeconds : 0;
}

const sharedServer = shareInFile(() => startPublicServer());

const routePaths = routes.map(examplePath);
const pagePaths = [...sharedPaths, ...recordPaths.map((path) => path.replace(/:\w+/, '1'))];
const livePaths = [
  ...routePaths,
  ...pagePaths,
  ...['/search?q=1', '/healthz', '/readyz', '/nowhere', '/explorer/none.js'],
];

describe('a cache in front of the service', () => {
  it.each(livePaths)('keeps no answer of %s without asking, also if it is an error', async (path) => {
    const server = await sharedServer();
    const get = (headers: Record<string, string> = {}, more = '', method = 'GET') =>
      fetch(server.base + path + more, { headers, method, redirect: 'manual' });
    const answers = [
      await get(),
      await get({}, '', 'HEAD'),
      await get({ Accept: 'text/html' }),
      await get({ 'If-None-Match': '*' }),
      await get({ Origin: 'https://wheel.example' }),
      await get({ Origin: 'https://elsewhere.example' }),
      await get({}, path.includes('?') ? '&a=1' : '?a=1'),
    ];
    server.hasViews = false;
    answers.push(await get(), await get({ Accept: 'text/html' }));
    server.hasViews = true;
    expect(answers.map(countKeptSeconds)).toEqual(answers.map(() => 0));
  });

  it('keeps documents for five minutes', async () => {
    const { get } = await sharedServer();
    for (const path of ['/openapi.json', '/docs', '/schemas', '/robots.txt'])
      expect([path, countKeptSeconds(await get(path))]).toEqual([path, 300]);
  });

  it('is told by Cache-Control, except by routes whose contract has none', async () => {
    const { get } = await sharedServer();
    const told = await Promise.all(
      routes.map(async (route) => {
        const { headers } = await get(examplePath(route));
        return [route.path, headers.get('cache-control') === null, headers.get('expires') === null];
      }),
    );
    const byExpires = [
      '/v1/public/telemetry',
      '/v1/public/installations/{installationId}/telemetry',
      '/v1/public/modules',
      '/v1/public/installations/{installationId}/observations',
    ];
    expect(told).toEqual(
      routes.map(({ path }) => [path, byExpires.includes(path), !byExpires.includes(path)]),
    );
  });
});
