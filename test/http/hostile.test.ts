import { once } from 'node:events';
import { connect } from 'node:net';
import { describe, expect, it } from 'vitest';
import { rateClasses } from '../../http/routes/rateClasses.ts';
import { loadDocuments } from '../../http/server/pages/documents.ts';
import { createRequestRefusals, refusalsPerTurn } from '../../http/server/requestRefusals.ts';
import { startPublicServer, type TestPublicServer } from '../support/http/publicServer.ts';
import { eventually, whenFinished } from '../support/processes/lifetime.ts';

const bundle = '/docs/swagger-ui-bundle.js';
const mib = 1024 * 1024;

/** A client that sends, and reads unless it is deaf. */
async function connectClient(port: number, { isDeaf = false } = {}) {
  const socket = connect(port, '127.0.0.1');
  whenFinished(() => socket.destroy());
  socket.on('error', () => undefined);
  let received = '';
  if (isDeaf) socket.pause();
  else
    socket.on('data', (chunk) => {
      received += chunk.toString('latin1');
    });
  // Unlike `once` of node:events, it resolves after an error, too.
  const closed = new Promise((resolve) => socket.once('close', resolve));
  await once(socket, 'connect');
  const countAnswers = (status = '') => received.split(`HTTP/1.1 ${status}`).length - 1;
  return { socket, closed, countAnswers };
}

async function countRequests({ registry }: TestPublicServer, route: string): Promise<number> {
  const metric = await registry.getSingleMetric('miner_http_requests_total')?.get();
  return (metric?.values ?? [])
    .filter(({ labels }) => labels.route === route)
    .reduce((total, { value }) => total + value, 0);
}

const pipelined = (path: string, count: number) => `GET ${path} HTTP/1.1\r\nHost: a\r\n\r\n`.repeat(count);

describe('a client that sends requests and does not read', () => {
  it.each([
    ['a document of 1.4 MB', bundle, 700],
    ['the OpenAPI description', '/openapi.json', 5_000],
    ['a route', '/v1/public/telemetry', 20_000],
    ['an unknown path', '/nothing', 20_000],
  ])('is disconnected for %s, and nothing is buffered', async (_, path, count) => {
    const server = await startPublicServer();
    await (await server.get(path, { 'Accept-Encoding': 'identity' })).arrayBuffer();
    const before = process.memoryUsage.rss();
    const { socket } = await connectClient(server.port, { isDeaf: true });
    socket.write(pipelined(path, count));
    // The connection is closed under the client: what it sends further is refused.
    await eventually(async () => {
      socket.write(pipelined(path, 10));
      return socket.destroyed || socket.errored !== null;
    }, 'the end of the connection');
    expect((await server.get('/healthz')).status).toBe(200);
    expect(process.memoryUsage.rss() - before).toBeLessThan(64 * mib);
    // Of large bodies one is under way; of small ones those that the system's buffers of a connection take.
    const route = path === '/nothing' ? 'unknown' : path;
    expect(await countRequests(server, route)).toBeLessThan(count);
  });

  it('takes a long time over a document, and gets all of it', async () => {
    const server = await startPublicServer();
    const { socket } = await connectClient(server.port, { isDeaf: true });
    socket.write(`GET ${bundle} HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n`);
    await eventually(async () => (await countRequests(server, bundle)) === 1, 'the response to begin');
    let bytes = 0;
    socket.on('data', (chunk) => {
      bytes += chunk.length;
    });
    socket.resume();
    const document = await server.get(bundle, { 'Accept-Encoding': 'identity' });
    const { byteLength: whole } = await document.arrayBuffer();
    await eventually(() => bytes > whole, 'the whole document');
  });
});

describe('a client that goes on behind its rate limit', () => {
  it.each([
    ['that asks for no body', 'HEAD', ''],
    ['that claims to come from a proxy', 'GET', 'X-Forwarded-For: 192.0.2.1\r\n'],
  ])('is disconnected before many refusals %s, and others are served', async (_what, method, header) => {
    const server = await startPublicServer({ rateLimits: true });
    const { socket, closed, countAnswers } = await connectClient(server.port);
    const request = `${method} /v1/public/telemetry HTTP/1.1\r\nHost: a\r\n${header}\r\n`;
    // Fewer in one turn than are refused in one, where they have no body.
    const burst = method === 'HEAD' ? 60 : 1_000;
    const sending = setInterval(() => socket.write(request.repeat(burst)), 30);
    await closed;
    clearInterval(sending);
    expect(countAnswers('429')).toBeLessThanOrEqual(method === 'HEAD' ? 0 : refusalsPerTurn);
    expect((await server.get('/docs')).status).toBe(200);
  });

  it('is answered a number of times in one turn', () => {
    const { isWorthAnswering } = createRequestRefusals({} as never);
    const isAnswered = () => isWorthAnswering({ isHead: false, isOfProxy: false } as never);
    const answered = Array.from({ length: 2 * refusalsPerTurn }, isAnswered).filter(Boolean);
    expect(answered).toHaveLength(refusalsPerTurn);
  });

  it('is told so behind a proxy, whose connections are those of others as well', async () => {
    const server = await startPublicServer({ rateLimits: true, trustedProxies: ['127.0.0.1'] });
    const { socket, countAnswers } = await connectClient(server.port);
    const target = '/v1/public/telemetry HTTP/1.1\r\nHost: a\r\nX-Forwarded-For: 192.0.2.1\r\n\r\n';
    socket.write(`GET ${target}HEAD ${target}`.repeat(150));
    await eventually(() => countAnswers() === 300, 'all responses');
  });
});

describe('documents', () => {
  it('are compressed, tagged, and not sent again to who has them', async () => {
    const server = await startPublicServer();
    for (const path of ['/openapi.json', '/docs', bundle]) {
      const { headers } = await server.get(path, { 'Accept-Encoding': 'identity' });
      const tag = headers.get('etag') ?? '';
      expect(tag).toMatch(/^"[\w-]{22}"$/);
      expect(headers.get('x-content-type-options')).toBe('nosniff');
      // No banner of a server: which one it is, and in which version, helps attackers alone.
      expect([headers.get('server'), headers.get('uwebsockets')]).toEqual([null, null]);
      expect((await server.get(path, { 'If-None-Match': tag })).status).toBe(304);
    }
    const packed = await server.get('/openapi.json', { 'Accept-Encoding': 'gzip' });
    expect(packed.headers.get('content-encoding')).toBe('gzip');
    // Other bytes under the same tag: it is weak.
    expect(packed.headers.get('etag')).toMatch(/^W\//);
  });

  it('have a rate limit, as does all outside of the contract', async () => {
    const server = await startPublicServer({ rateLimits: true });
    const { burst } = rateClasses.other;
    const paths = ['/docs/start.js', '/llms.txt', '/nothing', '/'];
    const statuses: number[] = [];
    for (let request = 0; request < burst + 4; request++) {
      const method = request % 5 === 4 ? 'POST' : 'GET';
      statuses.push((await server.get(paths[request % paths.length] as string, {}, method)).status);
    }
    expect(statuses.slice(0, burst)).not.toContain(429);
    expect(statuses.slice(burst)).toEqual([429, 429, 429, 429]);
    for (const path of ['/v1/public/telemetry', '/healthz', '/readyz'])
      expect((await server.get(path)).status).toBe(200);
  });

  it('count as an expensive route if they are large', async () => {
    const server = await startPublicServer({ rateLimits: true });
    const { burst } = rateClasses.publicHeavy;
    for (let request = 0; request < burst; request++)
      expect((await server.get('/openapi.json', {}, 'HEAD')).status).toBe(200);
    expect((await server.get('/v1/events')).status).toBe(429);
    expect((await server.get('/docs/start.js')).status).toBe(200);
  });

  it('count so above 128 KiB, all of them', async () => {
    const server = await startPublicServer();
    const documents = loadDocuments({ securityContact: null, publicUrl: null }, server.clock);
    for (const { path, isLarge } of documents) {
      const { status, headers } = await server.get(path, { 'Accept-Encoding': 'identity' }, 'HEAD');
      const hasMore = Number(headers.get('content-length')) > 128 * 1024;
      expect([path, status, isLarge]).toEqual([path, 200, hasMore]);
    }
  });
});
