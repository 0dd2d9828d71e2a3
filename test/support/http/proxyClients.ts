import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import type { Registry } from 'prom-client';
import { whenFinished } from '../processes/lifetime.ts';

/** Path of a route that the server under test always answers, and the host name in its requests. */
export const proxiedPath = '/v1/public/telemetry';
export const proxiedName = 'mining.example.org';
export const proxiedHost = `Host: ${proxiedName}\r\n`;

/** Clients of a proxy, by its port for the PROXY protocol: each sends bytes as if from its own address. */
export function createProxyClients(port: number) {
  async function open(from: string): Promise<Socket> {
    const socket = connect(port, '127.0.0.1');
    socket.on('error', () => undefined);
    whenFinished(() => socket.destroy());
    await once(socket, 'connect');
    const [family, own] = from.includes(':') ? ['TCP6', '::1'] : ['TCP4', '127.0.0.1'];
    socket.write(`PROXY ${family} ${from} ${own} 40000 8080\r\n`);
    return socket;
  }

  /** Returns the response to these bytes, up to the end of the connection. */
  async function exchange(sent: string, from = '192.0.2.1'): Promise<string> {
    const socket = await open(from);
    let received = '';
    socket.on('data', (chunk) => {
      received += chunk.toString('latin1');
    });
    const closed = once(socket, 'close');
    socket.write(sent);
    await closed;
    return received;
  }

  async function status(from: string, target = proxiedPath, headers = ''): Promise<number> {
    const text = `GET ${target} HTTP/1.1\r\n${proxiedHost}${headers}Connection: close\r\n\r\n`;
    return Number(/^HTTP\/1\.1 (\d{3})/.exec(await exchange(text, from))?.[1]);
  }
  return { open, exchange, status };
}

/** Number of requests to {@link proxiedPath} that the service has answered with any status. */
export async function countAnswered(registry: Registry): Promise<number> {
  const metric = await registry.getSingleMetric('miner_http_requests_total')?.get();
  return (metric?.values ?? [])
    .filter(({ labels }) => labels.route === proxiedPath)
    .reduce((total, { value }) => total + value, 0);
}
