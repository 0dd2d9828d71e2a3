import { request } from 'node:http';
import { Gauge, Registry } from 'prom-client';
import { describe, expect, it } from 'vitest';
import { createOperatorServer } from '../../http/server/operatorServer.ts';
import { whenFinished } from '../support/processes/lifetime.ts';
import { silentLogger } from '../support/silentLogger.ts';

async function start(registry = new Registry()) {
  const server = createOperatorServer({
    registry,
    readiness: () => ({ isReady: true, detail: {} }),
    logger: silentLogger,
    names: ['miner.example.org'],
  });
  const port = await server.listen('127.0.0.1', 0);
  whenFinished(() => server.close());
  const statusFor = (host: string) =>
    new Promise<number | undefined>((resolve, reject) => {
      const options = { host: '127.0.0.1', port, path: '/readyz', headers: { Host: host }, agent: false };
      request(options, (response) => {
        response.resume();
        resolve(response.statusCode);
      })
        .on('error', reject)
        .end();
    });
  return { base: `http://127.0.0.1:${port}`, statusFor };
}

describe("the operators' port", () => {
  it.each([
    ['127.0.0.1:9090', 200],
    ['[::1]:9090', 200],
    ['[::ffff:127.0.0.1]', 200],
    ['localhost', 200],
    ['service:9090', 200],
    ['miner.example.org', 200],
    ['MINER.example.org:9090', 200],
    ['rebound.example.com:9090', 421],
    ['127.0.0.1.example.com', 421],
    ['miner.example.org.evil.example', 421],
  ])('asked as %s answers %i', async (host, status) => {
    const { statusFor } = await start();
    expect(await statusFor(host)).toBe(status);
  });

  it('collects metrics once for all who ask meanwhile', async () => {
    const registry = new Registry();
    let collections = 0;
    new Gauge({
      name: 'collections',
      help: 'Collections.',
      registers: [registry],
      async collect() {
        collections++;
        await new Promise((resolve) => setTimeout(resolve, 200));
        this.set(collections);
      },
    });
    const { base } = await start(registry);
    const texts = await Promise.all(
      Array.from({ length: 20 }, async () => (await fetch(`${base}/metrics`)).text()),
    );
    expect(new Set(texts).size).toBe(1);
    expect(collections).toBe(1);
    expect((await fetch(`${base}/metrics`)).headers.get('x-content-type-options')).toBe('nosniff');
  });

  it('is not for pages of websites, which a browser could ask it for', async () => {
    const { base } = await start(new Registry());
    for (const headers of [{ origin: 'https://evil.example' }, { 'sec-fetch-site': 'cross-site' }]) {
      const response = await fetch(`${base}/metrics`, { headers });
      expect([response.status, await response.text()]).toEqual([403, '{"error":"other_origin"}']);
    }
    expect((await fetch(`${base}/metrics`, { headers: { 'sec-fetch-site': 'none' } })).status).toBe(200);
  });
});
