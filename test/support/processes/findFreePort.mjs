import { randomInt } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:net';

/**
 * Ports below the range for outgoing connections (from 32768 on Linux), where another process could take the port before the server starts.
 */
const [firstPort, endOfPorts] = [10_000, 32_000];

/** A loopback port on which nothing listens at the moment. */
export async function findFreePort() {
  for (let attempt = 0; attempt < 100; attempt++) {
    const port = randomInt(firstPort, endOfPorts);
    const server = createServer().listen(port, '127.0.0.1');
    try {
      await once(server, 'listening');
    } catch (error) {
      if (error.code === 'EADDRINUSE') continue;
      throw error;
    }
    server.close();
    await once(server, 'close');
    return port;
  }
  throw new Error(`100 ports from ${firstPort} to ${endOfPorts - 1} are all taken`);
}
