import { describe, expect, it } from 'vitest';
import { expectError } from '../support/http/expectError.ts';
import { startPublicServer } from '../support/http/publicServer.ts';

const paths = ['/v2/public/stats', '/v1/measurement/stats'];

describe('statistics routes', () => {
  it('answer 503 while they are rebuilt, as days do, and everything else keeps serving', async () => {
    const server = await startPublicServer();
    server.ready = false;
    for (const path of [...paths.map((one) => `${one}?range=7d`), '/v1/days/2026-01-31']) {
      const response = await server.get(path);
      await expectError(response, 503, 'public_stats_rebuilding');
      expect(response.headers.get('retry-after')).toBe('2');
    }
    expect((await server.get('/v1/status')).status).toBe(200);
    for (const path of paths) expect((await server.get(`${path}?range=x`)).status).toBe(400);
  });

  it.each(paths)('%s have one body for a tag, on every instance', async (path) => {
    const servers = [await startPublicServer(), await startPublicServer()];
    const bodies = new Map<string | null, string>();
    for (const stepMs of [0, 4_000, 17_000, 9_001, 29_000, 31_000])
      for (const { clock, get } of servers) {
        clock.advance(stepMs);
        const response = await get(`${path}?range=7d`, { 'Accept-Encoding': 'identity' });
        const body = await response.text();
        const tag = response.headers.get('etag');
        expect((bodies.get(tag) ?? body) === body).toBe(true);
        bodies.set(tag, body);
      }
    expect(bodies.size).toBe(3);
  });
});
