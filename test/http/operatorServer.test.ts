import { EventEmitter, once } from 'node:events';
import { type IncomingMessage, request } from 'node:http';
import { connect } from 'node:net';
import { text } from 'node:stream/consumers';
import { Gauge, Histogram, Registry } from 'prom-client';
import { describe, expect, it, vi } from 'vitest';
import { registerMetrics } from '../../actors/registerMetrics.ts';
import { createOperatorServer } from '../../http/server/operatorServer.ts';
import { whenFinished } from '../support/processes/lifetime.ts';
import { silentLogger } from '../support/silentLogger.ts';

async function start(registry = new Registry(), diagnose = async (): Promise<unknown> => ({})) {
  const readiness = { isReady: true, detail: {} };
  const server = createOperatorServer({
    registry,
    readiness: () => readiness,
    diagnose,
    logger: silentLogger,
    names: ['miner.example.org'],
  });
  const port = await server.listen('127.0.0.1', 0);
  whenFinished(() => server.close());
  /** Over a connection of its own. */
  const ask = (path: string, host = '127.0.0.1') => {
    const asked = request({ host: '127.0.0.1', port, path, headers: { Host: host }, agent: false });
    const [sent, responded] = [once(asked, 'finish'), once(asked, 'response')];
    asked.end();
    const answered = responded.then(async ([response]: IncomingMessage[]) => {
      if (response === undefined) throw new Error('there is no response');
      return { status: response.statusCode, headers: response.headers, body: await text(response) };
    });
    return { sent, answered, leave: () => asked.destroy() };
  };
  const statusFor = async (host: string) => (await ask('/readyz', host).answered).status;
  return { base: `http://127.0.0.1:${port}`, port, readiness, ask, statusFor };
}

describe("the operators' port", () => {
  it.each([
    ['127.0.0.1:8081', 200],
    ['[::1]:8081', 200],
    ['[::ffff:127.0.0.1]', 200],
    ['localhost', 200],
    ['service:8081', 200],
    ['miner.example.org', 200],
    ['MINER.example.org:8081', 200],
    ['rebound.example.com:8081', 421],
    ['127.0.0.1.example.com', 421],
    ['localhost.evil.example', 421],
    ['[::1].evil.example', 421],
    ['miner.example.org.evil.example', 421],
    ['evil.miner.example.org', 421],
    ['evilminer.example.org', 421],
    ['miner.example.org.', 421],
  ])('asked as %s answers %i', async (host, status) => {
    const { statusFor } = await start();
    expect(await statusFor(host)).toBe(status);
  });

  it('collects metrics once for all who ask meanwhile', async () => {
    const registry = new Registry();
    let collections = 0;
    const released = new EventEmitter();
    new Gauge({
      name: 'collections',
      help: 'Collections.',
      registers: [registry],
      async collect() {
        collections++;
        await once(released, 'release');
        this.set(collections);
      },
    });
    const { ask } = await start(registry);
    const requests = Array.from({ length: 20 }, () => ask('/metrics'));
    await Promise.all(requests.map(({ sent }) => sent));
    // Connections are served in the order in which they have come: once this one is answered, all before it are waiting.
    await ask('/readyz').answered;
    const [gone, ...others] = requests;
    gone?.leave();
    await expect(gone?.answered).rejects.toThrow('socket hang up');
    await ask('/readyz').answered;
    released.emit('release');
    const answers = await Promise.all(others.map(({ answered }) => answered));
    expect(new Set(answers.map(({ body }) => body)).size).toBe(1);
    expect(collections).toBe(1);
    expect(answers[0]?.headers['x-content-type-options']).toBe('nosniff');
  });

  it('answers again after metrics or a diagnosis have failed once', async () => {
    const failOnce = () => vi.fn(async () => {}).mockRejectedValueOnce(new Error('failed once'));
    const registry = new Registry();
    new Gauge({ name: 'failing', help: 'Fails once.', registers: [registry], collect: failOnce() });
    const failDiagnosis = failOnce();
    const { ask } = await start(registry, async () => (await failDiagnosis()) ?? {});
    for (const path of ['/metrics', '/diagnosis']) {
      expect([path, (await ask(path).answered).status]).toEqual([path, 500]);
      expect([path, (await ask(path).answered).status]).toEqual([path, 200]);
    }
  });

  it('shows metrics as text, with the same series at each turn', async () => {
    const registry = new Registry();
    registerMetrics(registry, {
      turns_total: ['Turns.', () => [[3, 'one']], 'wheel'],
      now: ['Time.', () => 7],
      later: ['Unknown.', () => null],
    });
    new Histogram({ name: 'seconds', help: 'Time.', buckets: [1], registers: [registry] }).observe(2);
    const { base } = await start(registry);
    for (const accept of ['*/*', 'application/openmetrics-text', '*/*']) {
      const response = await fetch(`${base}/metrics`, { headers: { accept } });
      expect(response.headers.get('content-type')).toBe('text/plain; version=0.0.4; charset=utf-8');
      const lines = (await response.text()).split('\n').filter((line) => line !== '');
      expect(lines.filter((line) => !line.startsWith('#'))).toEqual([
        'turns_total{wheel="one"} 3',
        'now 7',
        'seconds_bucket{le="1"} 0',
        'seconds_bucket{le="+Inf"} 1',
        'seconds_sum 2',
        'seconds_count 1',
      ]);
      expect(lines).toContain('# TYPE turns_total counter');
    }
  });

  it('says what it waits for, and how the process is', async () => {
    const { readiness, ask } = await start(undefined, async () => ({ findings: [] }));
    const read = async (path: string) => {
      const { status, headers, body } = await ask(path).answered;
      return [status, headers['content-type'], headers['cache-control'], body];
    };
    const json = (status: number, body: string) => [status, 'application/json', 'no-store', body];
    expect(await read('/readyz')).toEqual(json(200, '{"status":"ready"}\n'));
    Object.assign(readiness, { isReady: false, detail: { chain: 'behind' } });
    expect(await read('/readyz')).toEqual(json(503, '{"status":"waiting","chain":"behind"}\n'));
    expect(await read('/healthz')).toEqual(json(200, '{"status":"alive"}'));
    expect(await read('/diagnosis')).toEqual(json(200, '{"findings":[]}'));
    expect(await read('/other')).toEqual(json(404, '{"error":"not_found"}'));
  });

  it('closes the connection of a request that another parser may read otherwise', async () => {
    const { port } = await start();
    const socket = connect(port, '127.0.0.1');
    socket.write('GET /healthz HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n');
    expect(await text(socket)).toBe('');
  });

  it('is not for pages of websites, which a browser could ask it for', async () => {
    const { base } = await start(new Registry());
    const hosts = [
      'evil.example',
      'localhost.evil.example',
      '127.0.0.1.example',
      'localhost',
      'localhost:1',
      '127.0.0.1',
    ];
    const origins = [
      'null',
      base,
      ...[...hosts, 'miner.example.org', 'miner.example.org.'].flatMap((host) => [
        `http://${host}`,
        `https://${host}`,
      ]),
    ];
    const refused = [
      ...origins.map((origin) => ({ origin })),
      ...['cross-site', 'same-site'].map((site) => ({ 'sec-fetch-site': site })),
      { origin: base, 'sec-fetch-site': 'same-origin' },
    ];
    const ask = async (headers: Record<string, string>) => {
      const response = await fetch(`${base}/metrics`, { headers });
      return [headers, response.status, await response.text()];
    };
    for (const headers of refused)
      expect(await ask(headers)).toEqual([headers, 403, '{"error":"other_origin"}']);
    for (const site of ['none', 'same-origin']) expect((await ask({ 'sec-fetch-site': site }))[1]).toBe(200);
  });
});
