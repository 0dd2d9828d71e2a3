import { createServer } from 'node:net';
import { PortUnavailable } from '../../http/server/engine/listener.ts';

/**
 * Makes sure that the ports can be opened, before anything else is started for a process that could not be reached.
 *
 * @param addresses hosts with their ports; 0 is any free one.
 * @throws PortUnavailable
 */
export async function requireFreePorts(
  addresses: readonly (readonly [host: string, port: number])[],
): Promise<void> {
  for (const [host, port] of addresses) {
    if (port === 0) continue;
    const server = createServer();
    await new Promise<void>((resolve, reject) => {
      server.once('error', () => reject(new PortUnavailable(host, port)));
      server.listen({ host, port, exclusive: true }, resolve);
    });
    await new Promise((resolve) => server.close(resolve));
  }
}
