import { describe, expect, it } from 'vitest';
import { PortUnavailable } from '../../http/server/engine/listener.ts';
import { detectImplementation } from '../../http/server/engine/uws.ts';
import { startPublicServer } from '../support/http/publicServer.ts';
import { findFreePort } from '../support/processes/findFreePort.mjs';

describe('a port', () => {
  it('belongs to one server unless it is shared', async () => {
    const { port } = await startPublicServer();
    await expect(startPublicServer({}, port)).rejects.toThrow(PortUnavailable);
  });

  it.runIf(detectImplementation() === 'native' && process.platform === 'linux')(
    'can be shared by servers that all say so (the native addon on Linux)',
    async () => {
      const port = await findFreePort();
      const first = await startPublicServer({ isPortShared: true }, port);
      const second = await startPublicServer({ isPortShared: true }, port);
      const countAnswers = async ({ registry }: typeof first) =>
        Number(/miner_http_requests_total\{.*\} (\d+)/.exec(await registry.metrics())?.[1] ?? 0);
      for (let request = 0; request < 200; request++)
        expect((await first.get('/v1/status', { connection: 'close' })).status).toBe(200);
      expect(await countAnswers(first)).toBeGreaterThan(0);
      expect(await countAnswers(second)).toBeGreaterThan(0);
      expect((await countAnswers(first)) + (await countAnswers(second))).toBe(200);
    },
  );

  // The fallback's connections end with its port.
  it.runIf(detectImplementation() === 'native').each(['leave', 'close'] as const)(
    'is left by clients after %s() of its server',
    async (ending) => {
      const server = await startPublicServer();
      const before = await server.get('/v1/status');
      await before.text();
      server[ending]();
      const after = await server.get('/v1/status');
      expect([before, after].map(({ status, headers }) => [status, headers.get('connection')])).toEqual([
        [200, null],
        [200, 'close'],
      ]);
    },
  );
});
