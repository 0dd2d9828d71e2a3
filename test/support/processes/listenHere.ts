import { once } from 'node:events';
import type { AddressInfo, Server } from 'node:net';
import { whenFinished } from './lifetime.ts';

/** Makes a server of this process listen on this host until the test has finished. Returns its port. */
export async function listenHere(server: Server, port = 0): Promise<number> {
  server.listen(port, '127.0.0.1');
  whenFinished(() => void server.close());
  await once(server, 'listening');
  return (server.address() as AddressInfo).port;
}
