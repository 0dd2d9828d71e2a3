import { describe, expect, it } from 'vitest';
import { PortUnavailable } from '../../http/server/engine/listener.ts';
import { detectImplementation } from '../../http/server/engine/uws.ts';
import { startPublicServer } from '../support/http/publicServer.ts';

describe('a port', () => {
  it('belongs to one server', async () => {
    const { port } = await startPublicServer();
    await expect(startPublicServer({}, port)).rejects.toThrow(PortUnavailable);
  });

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
