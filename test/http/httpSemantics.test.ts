import { beforeEach, describe, expect, it } from 'vitest';
import guidePages from '../../http/guides/pages.json' with { type: 'json' };
import { routes } from '../../http/routes/routes.ts';
import { compressedAboveBytes, prepareDocument } from '../../http/server/answers/preparedResponse.ts';
import { examplePath } from '../support/http/examplePath.ts';
import { expectError, expectErrorAnswer } from '../support/http/expectError.ts';
import { startPublicServer, type TestPublicServer } from '../support/http/publicServer.ts';
import { requestStatus } from '../support/http/requestStatus.ts';
import { shareInFile } from '../support/processes/lifetime.ts';

/** Each route's path with a value for its parameter. */
const paths = routes.map(examplePath);
const conditional = routes.filter((route) => route.kind === 'view' && route.isConditional).map(examplePath);

let server: TestPublicServer;
const sharedServer = shareInFile(() => startPublicServer());
let views: Pick<TestPublicServer['views'], 'process'>;
/** One server for all tests. Each begins ready, with the first views. */
beforeEach(async () => {
  server = await sharedServer();
  views ??= { ...server.views };
  Object.assign(server, { ready: true, hasViews: true });
  Object.assign(server.views, views);
});

/** Headers without those that differ between two requests. */
const listHeaders = ({ headers }: Response) =>
  Object.fromEntries(
    [...headers].filter(([name]) => !['x-request-id', 'date', 'connection', 'keep-alive'].includes(name)),
  );

it('a server that is open to every website gives all of them the same answer', async () => {
  const open = await startPublicServer({ allowedOrigins: ['*'] });
  const ask = async (headers: Record<string, string>, path = '/v1/status', method = 'GET') => {
    const { status, headers: sent } = await open.get(path, headers, method);
    return [status, sent.get('access-control-allow-origin'), sent.get('vary')];
  };
  for (const origin of [{}, { Origin: 'https://elsewhere.example' }, { Origin: 'null' }]) {
    expect(await ask(origin)).toEqual([200, '*', 'Accept-Encoding']);
    expect(await ask({ ...origin, 'If-None-Match': '*' })).toEqual([304, '*', 'Accept-Encoding']);
    expect(await ask(origin, '/v1/public/telemetry')).toEqual([200, '*', null]);
    expect(await ask(origin, '/nothing')).toEqual([404, '*', null]);
  }
  const preflight = { Origin: 'null', 'Access-Control-Request-Method': 'GET' };
  expect(await ask(preflight, '/v1/status', 'OPTIONS')).toEqual([204, '*', null]);
});

const otherOrigins = [
  'null',
  'http://wheel.example',
  'https://wheel.exampl',
  'https://wheel.example.',
  'https://wheel.example:8443',
  'https://wheel.example.evil.example',
  'https://evil.wheel.example',
  'https://evilwheel.example',
];

describe('every route of the table', () => {
  it.each(paths)('%s answers what its schema says, with the request ID that it was sent', async (path) => {
    const response = await server.get(path, { 'X-Request-Id': 'trace.1:a_B-9' });
    expect(response.status).toBe(200);
    expect(response.headers.get('content-type')).toBe('application/json');
    expect(response.headers.get('x-request-id')).toBe('trace.1:a_B-9');
    const route = routes[paths.indexOf(path)];
    expect(route?.response.parse(await response.json())).toBeTruthy();
    expect(response.headers.get('cache-control')).toBe(route?.cacheControl ?? null);
  });

  it.each(paths)('%s answers HEAD as GET, without a body', async (path) => {
    const plain = { 'Accept-Encoding': 'identity' };
    const [get, head] = [await server.get(path, plain), await server.get(path, plain, 'HEAD')];
    expect(head.status).toBe(200);
    expect(await head.text()).toBe('');
    expect(head.headers.get('content-length')).toBe(String((await get.arrayBuffer()).byteLength));
    expect(listHeaders(head)).toEqual(listHeaders(get));
  });

  it.each(paths)('%s does not exist for other methods', async (path) => {
    for (const method of ['POST', 'PUT', 'DELETE', 'PATCH', 'OPTIONS']) {
      await expectErrorAnswer(await server.get(path, {}, method), 404, 'not_found');
    }
  });

  it.each(paths)('%s refuses a browser on another website, and serves an approved one', async (path) => {
    for (const origin of otherOrigins) {
      const refused = await server.get(path, { Origin: origin });
      await expectError(refused, 403, 'cors_origin_not_allowed');
      expect(refused.headers.get('access-control-allow-origin')).toBe('*');
      expect(refused.headers.get('x-request-id')).toBeTruthy();
    }
    const approved = await server.get(path, { Origin: 'https://wheel.example' });
    expect(approved.status).toBe(200);
    expect(approved.headers.get('access-control-allow-origin')).toBe('https://wheel.example');
    expect(approved.headers.get('vary')).toContain('Origin');
  });

  it.each(paths)('%s says 503 while nothing is restored', async (path) => {
    server.hasViews = false;
    const response = await server.get(path);
    await expectError(response, 503, 'database_unavailable');
    expect(response.headers.get('retry-after')).toBe('2');
  });

  it.each(routes.filter(({ query }) => query === 'none').map(examplePath))(
    '%s takes no parameter, not even an empty one',
    async (path) => {
      for (const query of ['?a=1', '?a', '?a=', '?=', '?&a', '?a=1&a=1']) {
        await expectError(await server.get(path + query), 400, 'invalid_query', query);
      }
      for (const query of ['?', '?&', '?&&']) expect((await server.get(path + query)).status).toBe(200);
    },
  );

  it.each(['/v1/public/telemetry', '/v1/public/modules', '/v1/public/installations/wheel-1/telemetry'])(
    '%s does not read its query',
    async (path) => {
      expect((await server.get(`${path}?range=7d&range=8d`)).status).toBe(200);
    },
  );
});

it('a request ID that is not well-formed is replaced', async () => {
  const exchange = async (sent: string) =>
    (await server.get('/v1/status', { 'X-Request-Id': sent })).headers.get('x-request-id');
  expect(await exchange('x'.repeat(128))).toBe('x'.repeat(128));
  for (const bad of ['', 'short', 'x'.repeat(129), 'has space!', 'per%cent99', 'abcdefgh\tX-Evil: 1'])
    expect(await exchange(bad)).toMatch(/^[a-z0-9-]{8,128}$/);
});

describe('conditional requests', () => {
  it.each(conditional)('%s answers 304 to every form of its current tag', async (path) => {
    const plain = await server.get(path, { 'Accept-Encoding': 'identity' });
    const strong = plain.headers.get('etag') as string;
    expect(strong).toMatch(/^"[^"]+"$/);
    // Weak where the body is compressed.
    const etag = (await server.get(path)).headers.get('etag') as string;
    const isCompressed = Number(plain.headers.get('content-length')) > compressedAboveBytes;
    expect(etag).toBe(isCompressed ? `W/${strong}` : strong);
    for (const form of [etag, `"a",W/${strong},"b"`, '*']) {
      const response = await server.get(path, { 'If-None-Match': form });
      expect([form, response.status, await response.text()]).toEqual([form, 304, '']);
      expect(listHeaders(response)).toMatchObject({
        etag,
        'cache-control': 'public, max-age=0, must-revalidate',
        vary: 'Accept-Encoding, Origin',
      });
      expect(response.headers.get('content-type')).toBeNull();
      expect(response.headers.get('x-request-id')).toBeTruthy();
    }
    for (const other of ['"other"', strong.slice(1, -1), ''])
      expect((await server.get(path, { 'If-None-Match': other })).status).toBe(200);
    const ask = (lines: string[]) => requestStatus(`${server.base}${path}`, { 'If-None-Match': lines });
    for (const lines of [
      [strong, '"other"'],
      ['"a"', '"b", "c"', `"d", ${strong}`],
    ])
      expect([lines, await ask(lines)]).toEqual([lines, 304]);
    expect(await ask([strong.slice(1, -1), '"b"'])).toBe(200);
  });

  it('keeps the tag of a process snapshot whose time of generation alone differs', async () => {
    const read = async () => {
      const response = await server.get('/v4/public/process');
      return { tag: response.headers.get('etag'), body: await response.json() };
    };
    const first = await read();
    const { process } = server.views;
    server.views.process = { ...process, generatedAtMs: process.generatedAtMs + 1_000 };
    const second = await read();
    expect(second.tag).toBe(first.tag);
    expect(second.body).not.toEqual(first.body);
  });

  it('changes the tag of the status with its modules and signer', async () => {
    const readStatus = async () => {
      const response = await server.get('/v1/status');
      const { revision } = (await response.json()) as { revision: string };
      return { tag: response.headers.get('etag'), revision };
    };
    const first = await readStatus();
    server.views.process = { ...server.views.process, modules: { ...server.views.modules, modules: [] } };
    const second = await readStatus();
    server.views.process = { ...server.views.process, signer: null };
    const third = await readStatus();
    expect(new Set([first.tag, second.tag, third.tag]).size).toBe(3);
    expect(second.revision).toBe(first.revision);
    expect(third.revision).not.toBe(second.revision);
  });

  it('never answers telemetry with 304, which still carries its revision as a tag', async () => {
    const response = await server.get('/v1/public/telemetry', { 'If-None-Match': '"12.abc"' });
    expect(response.status).toBe(200);
    expect(response.headers.get('etag')).toBe('"12.abc"');
    expect((await server.get('/v1/public/installations/nobody/telemetry')).headers.get('etag')).toBeNull();
  });
});

describe('a preflight', () => {
  const asked = { 'Access-Control-Request-Method': 'GET', 'Access-Control-Request-Headers': 'if-none-match' };
  const everywhere = [...paths, '/v1/events/stream', '/healthz', '/openapi.json', '/nowhere'];

  it.each(everywhere)('answers an approved origin for %s, and refuses another one', async (path) => {
    const ask = (origin: string) => server.get(path, { Origin: origin, ...asked }, 'OPTIONS');
    const approved = await ask('https://wheel.example');
    expect([approved.status, await approved.text()]).toEqual([204, '']);
    expect(Object.fromEntries(approved.headers)).toMatchObject({
      'access-control-allow-origin': 'https://wheel.example',
      'access-control-allow-methods': 'GET, HEAD',
      'access-control-allow-headers': 'Cache-Control, If-None-Match, Last-Event-ID, X-Request-Id',
      'access-control-max-age': '600',
      vary: 'Origin',
      'x-request-id': expect.any(String),
    });
    const refused = await ask('https://elsewhere.example');
    await expectError(refused, 403, 'cors_origin_not_allowed');
    expect(refused.headers.get('access-control-allow-origin')).toBe('*');
    expect(refused.headers.get('access-control-allow-methods')).toBeNull();
  });

  it('has both an origin and a method', async () => {
    const ask = async (headers: Record<string, string>) =>
      (await server.get('/v1/status', headers, 'OPTIONS')).status;
    expect(await ask({})).toBe(404);
    expect(await ask({ Origin: 'https://wheel.example' })).toBe(404);
    expect(await ask(asked)).toBe(404);
  });

  it('leaves the connection to the request that it was for', async () => {
    const headers = { Origin: 'https://wheel.example' };
    await server.get('/v1/settlements', { ...headers, ...asked }, 'OPTIONS');
    const response = await server.get('/v1/settlements', { ...headers, 'If-None-Match': '*' });
    expect(response.status).toBe(304);
    expect(response.headers.get('access-control-expose-headers')).toBe(
      'ETag, Link, RateLimit, RateLimit-Policy, Retry-After, X-Request-Id, X-Miner-Settlement-Source',
    );
    expect(response.headers.get('x-miner-settlement-source')).toBe('unavailable');
  });

  it('does not count against the rate limit of the address', async () => {
    server = await startPublicServer({ rateLimits: true });
    for (let count = 0; count < 100; count++)
      await server.get('/v1/settlements', { Origin: 'https://wheel.example', ...asked }, 'OPTIONS');
    expect((await server.get('/v1/settlements')).status).toBe(200);
  });
});

it.each([
  ...['/index.html', '/statistics/x', '/explorer/none.js', '/metrics'],
  ...['/v1', '/v1/status/', '/v1/public/telemetry/x', '/V1/status'],
])('the path %s does not exist', async (path) => {
  await expectError(await server.get(path), 404, 'not_found');
});

describe('encodings', () => {
  it('are offered for bodies over 1 KiB and prepared once per view', async () => {
    server = await startPublicServer();
    const plain = await (await server.get('/v1/status', { 'Accept-Encoding': 'identity' })).text();
    expect(plain.length).toBeGreaterThan(1024);
    for (const [accepted, encoding] of [
      ['gzip', 'gzip'],
      ['br', 'br'],
      ['gzip, deflate, br', 'br'],
      ['gzip;q=1, br;q=0.5', 'gzip'],
      ['deflate', null],
      ['br;q=0', null],
    ] as const) {
      const response = await server.get('/v1/status', { 'Accept-Encoding': accepted });
      expect([accepted, response.headers.get('content-encoding')]).toEqual([accepted, encoding]);
      expect(response.headers.get('vary')).toBe('Accept-Encoding, Origin');
      expect(await response.text()).toBe(plain);
    }
    const metrics = await server.registry.metrics();
    expect(metrics).toContain('miner_http_prepared_responses_total 1');
  });

  it('leave a small body as it is', async () => {
    const response = await server.get('/v1/public/telemetry', { 'Accept-Encoding': 'gzip, br' });
    expect(response.headers.get('content-encoding')).toBeNull();
    expect(response.headers.get('vary')).toBe('Origin');
    const headers = { contentType: 'text/plain', cacheControl: null, own: [] };
    const isCompressible = (bytes: number) => prepareDocument(Buffer.alloc(bytes), headers).isCompressible;
    expect([1024, 1025].map(isCompressible)).toEqual([false, true]);
  });
});

describe('readiness and documents', () => {
  it('/healthz is alive, /readyz only when it is ready', async () => {
    for (const [path, status] of [
      ['/healthz', 'alive'],
      ['/readyz', 'ready'],
    ] as const) {
      const response = await server.get(path);
      expect([response.status, await response.json()]).toEqual([200, { status }]);
      expect(response.headers.get('cache-control')).toBe('no-store');
      const head = await server.get(path, {}, 'HEAD');
      expect([await head.text(), listHeaders(head)]).toEqual(['', listHeaders(response)]);
    }
    server.ready = false;
    expect((await server.get('/healthz')).status).toBe(200);
    const waiting = await server.get('/readyz');
    await expectError(waiting, 503, 'database_unavailable');
    expect(waiting.headers.get('retry-after')).toBe('2');
  });

  it('name every route and guide for machines, and keep robots from the stream', async () => {
    const text = await server.get('/llms.txt');
    expect(text.headers.get('content-type')).toBe('text/markdown; charset=utf-8');
    const lines = (await text.text()).split('\n');
    expect(lines[0]).toBe('# Mining Activity Read Service');
    for (const path of [...routes.map((route) => route.path), '/v1/events/stream'])
      expect(lines.filter((line) => line.includes(`(${path}):`))).toHaveLength(1);
    for (const { name, title } of guidePages) expect(lines).toContain(`- [${title}](/docs/${name})`);
    for (const [, path = ''] of lines.join('\n').matchAll(/\((\/(?!v\d)[^)]*)\)/g))
      expect([path, (await server.get(path)).status]).toEqual([path, 200]);
    const robots = await server.get('/robots.txt');
    expect(await robots.text()).toBe('User-agent: *\nDisallow: /v1/events/stream\n');
  });
});

describe('security.txt', () => {
  const path = '/.well-known/security.txt';

  it('names the contact of the operator, for half a year from today', async () => {
    server = await startPublicServer({ securityContact: 'mailto:security@wheel.example' });
    const response = await server.get(path);
    expect(response.headers.get('content-type')).toBe('text/plain; charset=utf-8');
    const lines = [...(await response.text()).matchAll(/^(\w+): (.*)$/gm)];
    const fields = Object.fromEntries(lines.map(([, name, value]) => [name, value]));
    expect(fields).toMatchObject({ Contact: 'mailto:security@wheel.example' });
    const days = (Date.parse(fields.Expires) - server.clock.nowMs()) / 86_400_000;
    expect(Math.ceil(days)).toBe(180);
    const tag = response.headers.get('etag');
    expect((await server.get(path)).headers.get('etag')).toBe(tag);
    server.clock.advance(86_400_000);
    expect((await server.get(path)).headers.get('etag')).not.toBe(tag);
  });

  it('is not there without one', async () => {
    expect((await (await startPublicServer()).get(path)).status).toBe(404);
  });
});
