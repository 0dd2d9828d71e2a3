import { describe, expect, it } from 'vitest';
import { startPublicServer } from '../support/publicServer.ts';

const paths = ['/v2/public/stats', '/v1/measurement/stats'];

describe('statistics routes', () => {
  it.each(paths)('%s take a range, once, and nothing else', async (path) => {
    const server = await startPublicServer();
    for (const [range, dayCount] of [
      ['7d', 7],
      ['30d', 30],
    ] as const) {
      const response = await server.get(`${path}?range=${range}`);
      expect(response.status).toBe(200);
      expect(await response.json()).toMatchObject({ range, window: { dayCount }, timezone: 'UTC' });
    }
    for (const query of [
      '',
      '?range=',
      '?range=1d',
      '?range=7d&range=7d',
      '?range=7d&x=1',
      '?Range=7d',
      '?range=7D',
    ]) {
      const response = await server.get(path + query);
      expect([query, response.status]).toEqual([query, 400]);
      expect(await response.json()).toEqual({ error: 'invalid_query' });
    }
  });

  it.each(paths)('%s say 503 while they are rebuilt, and everything else keeps serving', async (path) => {
    const server = await startPublicServer();
    server.ready = false;
    const response = await server.get(`${path}?range=7d`);
    expect(response.status).toBe(503);
    expect(await response.json()).toEqual({ error: 'public_stats_rebuilding' });
    expect(response.headers.get('retry-after')).toBe('2');
    expect(response.headers.get('cache-control')).toBe('no-store');
    expect((await server.get('/v1/status')).status).toBe(200);
    expect((await server.get(`${path}?range=x`)).status).toBe(400);
  });

  it.each(paths)('%s answer 304 to their tag, and are compressed', async (path) => {
    const server = await startPublicServer();
    const response = await server.get(`${path}?range=30d`, { 'Accept-Encoding': 'br' });
    expect(response.headers.get('content-encoding')).toBe('br');
    expect(response.headers.get('cache-control')).toBe('public, max-age=0, must-revalidate');
    const etag = response.headers.get('etag') as string;
    expect((await server.get(`${path}?range=30d`, { 'If-None-Match': etag })).status).toBe(304);
    expect((await server.get(`${path}?range=7d`, { 'If-None-Match': etag })).status).toBe(200);
  });
});
