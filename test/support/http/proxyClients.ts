import { once } from 'node:events';
import { connect } from 'node:net';
import type { Duplex } from 'node:stream';
import type { Registry } from 'prom-client';
import { expect } from 'vitest';
import { rateClasses } from '../../../http/routes/rateClasses.ts';
import { whenFinished } from '../processes/lifetime.ts';

/** Path of a route that the server under test always answers, and the host name in its requests. */
export const proxiedPath = '/v1/public/telemetry';
export const proxiedName = 'mining.example.org';
export const proxiedHost = `Host: ${proxiedName}\r\n`;

/** Connects to a proxy's PROXY-protocol port as if from another address. */
export async function connectFrom(port: number, from: string) {
  const socket = connect(port, '127.0.0.1');
  whenFinished(() => socket.destroy());
  await once(socket, 'connect');
  const [family, own] = from.includes(':') ? ['TCP6', '::1'] : ['TCP4', '127.0.0.1'];
  socket.write(`PROXY ${family} ${from} ${own} 40000 8080\r\n`);
  return socket;
}

/** Sends bytes to a proxy, as its clients do. */
export function createProxyClients(open: (from: string) => Promise<Duplex>) {
  /** Returns the response to these bytes, up to the end of the connection. */
  async function exchange(sent: string, from = '192.0.2.1'): Promise<string> {
    const socket = await open(from);
    let received = '';
    socket.on('data', (chunk) => {
      received += chunk.toString('latin1');
    });
    socket.on('error', () => undefined);
    const closed = once(socket, 'close');
    socket.write(sent);
    await closed;
    return received;
  }

  async function status(from: string, target = proxiedPath, headers = ''): Promise<number> {
    const text = `GET ${target} HTTP/1.1\r\n${proxiedHost}${headers}Connection: close\r\n\r\n`;
    return Number(/^HTTP\/1\.1 (\d{3})/.exec(await exchange(text, from))?.[1]);
  }
  return { exchange, status };
}

/** Number of requests to {@link proxiedPath} that the service has answered with any status. */
export async function countAnswered(registry: Registry): Promise<number> {
  const metric = await registry.getSingleMetric('miner_http_requests_total')?.get();
  return (metric?.values ?? [])
    .filter(({ labels }) => labels.route === proxiedPath)
    .reduce((total, { value }) => total + value, 0);
}

/** Fails unless a network is limited despite forged addresses, and the next network is not. */
export async function expectLimitOfNetwork(
  status: ReturnType<typeof createProxyClients>['status'],
): Promise<void> {
  const { burst } = rateClasses.publicHeavy;
  const statuses: number[] = [];
  for (let index = 0; index <= burst; index++) {
    const spoofed = `X-Forwarded-For: 198.51.100.${index}\r\nX-Forwarded-For: 203.0.113.${index}\r\nForwarded: for=192.0.2.${index}\r\n`;
    // A new address of the same network each time.
    statuses.push(await status(`2001:db8:1:2::${(index + 1).toString(16)}`, '/v1/events', spoofed));
  }
  expect(statuses.slice(0, burst)).not.toContain(429);
  expect(statuses.at(-1)).toBe(429);
  expect(await status('2001:db8:1:3::1', '/v1/events')).not.toBe(429);
}
