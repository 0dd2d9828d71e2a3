import { readFileSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { join, resolve } from 'node:path';
import { startProcess, type TestProcess, untilReady } from './childProcess.ts';
import { findFreePort } from './findFreePort.mjs';
import { temporaryDirectory } from './lifetime.ts';
import { type Replacement, rewriteConfiguration } from './rewriteConfiguration.ts';

const reference = resolve(import.meta.dirname, '../../../deploy/proxy/haproxy.cfg');

/** HAProxy with the reference configuration in front of a server. */
export interface TestHaproxy extends TestProcess {
  readonly port: number;
  /** Port with TLS, if there is a certificate. */
  readonly tlsPort: number;
  /** A port whose connections begin with a PROXY line with their origin. */
  readonly proxiedPort: number;
}

/**
 * Starts the reference configuration with ports and names of this machine, and one server or two. A PROXY line arrives after its connection, so
 * connections are counted once their address is known.
 *
 * @param changes lower limits, for tests that would otherwise need thousands of connections.
 * @param certificate file with a certificate and its key, for TLS at another port.
 */
export async function startHaproxy(
  program: string,
  upstreamPorts: number | readonly number[],
  changes: readonly Replacement[] = [],
  { certificate = null }: { readonly certificate?: string | null } = {},
): Promise<TestHaproxy> {
  const [port, proxiedPort, healthPort] = [await findFreePort(), await findFreePort(), await findFreePort()];
  const tlsPort = await findFreePort();
  const [service, replica] = [upstreamPorts].flat();
  const configuration = rewriteConfiguration(readFileSync(reference, 'utf8'), [
    ...changes,
    ['bind :8080', `bind 127.0.0.1:${port}\n  bind 127.0.0.1:${proxiedPort} accept-proxy`],
    ['bind :8443', `bind 127.0.0.1:${tlsPort}`],
    ['bind 127.0.0.1:8404', `bind 127.0.0.1:${healthPort}`],
    [/tcp-request connection (track|reject)/g, 'tcp-request session $1'],
    [
      /\n *server replica [^\n]*/g,
      replica === undefined ? '' : `\n  server replica 127.0.0.1:${replica} port ${replica}`,
    ],
    ['server service service:8080', `server service 127.0.0.1:${service} port ${service}`],
    // Without a port of their own, checks go to the server's.
    ['check port 8081', 'check'],
  ]);
  const path = join(temporaryDirectory(), 'haproxy.cfg');
  writeFileSync(path, configuration);
  // As the image starts it.
  const server = startProcess(program, ['-W', '-db', '-f', path], {
    env: {
      PATH: process.env.PATH,
      ...(certificate !== null && { CERTIFICATE: certificate }),
    },
  });
  await untilReady(server, () => isListening(port), 'HAProxy');
  return Object.assign(server, { port, proxiedPort, tlsPort });
}

function isListening(port: number): Promise<boolean> {
  return new Promise((found) => {
    const socket = connect(port, '127.0.0.1');
    const tell = (isThere: boolean) => {
      socket.destroy();
      found(isThere);
    };
    socket.once('connect', () => tell(true)).once('error', () => tell(false));
  });
}
