import { readdirSync, readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { join, resolve } from 'node:path';
import { describe, expect, it, vi } from 'vitest';
import { startTracing } from '../../deploy/process/tracing.ts';
import packageJson from '../../package.json' with { type: 'json' };
import type { Database } from '../../storage/clickhouse/database.ts';
import { eventually } from '../support/processes/childProcess.ts';
import { shareInFile, whenFinished } from '../support/processes/lifetime.ts';
import { startMiner, waitUntilReady, waitUntilStored } from '../support/processes/minerProcess.ts';
import { connectTo, startNats } from '../support/processes/natsServer.ts';
import { temporaryDirectory } from '../support/processes/temporaryDirectory.ts';
import { mixedPublications, publishAll } from '../support/readings/readingMessages.ts';
import { silentLogger } from '../support/silentLogger.ts';

interface Attribute {
  readonly key: string;
  readonly value: Readonly<Record<string, unknown>>;
}
interface Span {
  readonly name: string;
  readonly kind: number;
  readonly traceId: string;
  readonly spanId: string;
  readonly traceState?: string;
  readonly parentSpanId?: string;
  readonly status: { readonly code: number };
  readonly attributes: readonly Attribute[];
}
interface ExportRequest {
  readonly resourceSpans: readonly {
    readonly resource: { readonly attributes: readonly Attribute[] };
    readonly scopeSpans: readonly { readonly spans: readonly Span[] }[];
  }[];
}

const toObject = (attributes: readonly Attribute[]) =>
  Object.fromEntries(attributes.map(({ key, value }) => [key, Object.values(value)[0]]));

/** An OpenTelemetry collector that keeps what it receives. */
async function startCollector() {
  const spans: Span[] = [];
  const resources: object[] = [];
  const protobuf: string[] = [];
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk);
    const body = Buffer.concat(chunks);
    const contentType = request.headers['content-type'] ?? '';
    if (contentType === 'application/x-protobuf') protobuf.push(body.toString('latin1'));
    else {
      const { resourceSpans } = JSON.parse(body.toString()) as ExportRequest;
      for (const { resource, scopeSpans } of resourceSpans) {
        resources.push(toObject(resource.attributes));
        for (const scope of scopeSpans) spans.push(...scope.spans);
      }
    }
    response.setHeader('Content-Type', contentType).end(contentType === 'application/json' ? '{}' : '');
  }).listen(0, '127.0.0.1');
  whenFinished(() => server.close());
  const { port } = await eventually(() => server.address() as { readonly port: number } | null, 'a port');
  return { url: `http://127.0.0.1:${port}`, spans, resources, protobuf };
}

const json = { OTEL_EXPORTER_OTLP_PROTOCOL: 'http/json' };

describe('a running process', () => {
  const natsServer = shareInFile(() => startNats());

  it('logs levels, times, version and requests, and sends traces', async () => {
    const [nats, collector] = [await natsServer(), await startCollector()];
    const miner = await startMiner({
      natsUrl: nats.url,
      dataDir: temporaryDirectory(),
      environment: { MINER_ACCESS_LOG: '3', OTEL_EXPORTER_OTLP_ENDPOINT: collector.url, ...json },
    });
    await waitUntilReady(miner);
    const { connection } = await connectTo(nats);
    await publishAll(connection, mixedPublications(60));
    await waitUntilStored(miner, 60);
    const traceId = '0af7651916cd43dd8448eb211c80319c';
    const traceparent = `00-${traceId}-b7ad6b7169203331-01`;
    for (let request = 1; request <= 6; request++)
      await fetch(`${miner.publicUrl}/v1/status`, {
        headers: { 'X-Request-Id': `request-${request}`, ...(request === 6 && { traceparent }) },
      });
    expect(await miner.end('SIGTERM')).toBe(0);

    for (const line of miner.log()) {
      expect(line).toMatchObject({ service: 'miner', version: packageJson.version });
      expect(line.level).toMatch(/^(info|warn)$/);
      expect(line.time).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
    }
    const requests = miner.log().filter(({ msg }) => msg === 'request');
    expect(requests.map(({ requestId }) => requestId)).toEqual(['request-3', 'request-6']);
    expect(requests[0]).toMatchObject({ route: '/v1/status', status: 200, oneOf: 3 });

    const named = (name: string) => collector.spans.filter((span) => span.name === name);
    expect(named('GET /v1/status')).toHaveLength(6);
    const last = named('GET /v1/status').find((span) => span.traceId === traceId);
    expect(last?.parentSpanId).toBe('b7ad6b7169203331');
    expect(last?.attributes).toContainEqual({ key: 'miner.request_id', value: { stringValue: 'request-6' } });
    const folded = named('fold MINER_COUNTER').flatMap(({ attributes }) =>
      attributes.filter(({ key }) => key === 'miner.messages').map(({ value }) => Number(value.intValue)),
    );
    expect(folded.reduce((sum, count) => sum + count, 0)).toBe(60);
  });

  it('logs no requests by default, and loses only traces without a collector', async () => {
    const nats = await natsServer();
    // It has its own file, which is loaded on demand.
    const start = (environment: object) => startTracing({ ...environment }, { path: '' }, silentLogger);
    expect(await start({ OTEL_EXPORTER_OTLP_ENDPOINT: '' })).toBeNull();
    const endpoint = { OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:1' };
    expect(await start({ ...endpoint, OTEL_SDK_DISABLED: ' True ' })).toBeNull();
    expect(await start({ ...endpoint, OTEL_TRACES_EXPORTER: 'none' })).toBeNull();
    const bundle = resolve(import.meta.dirname, '../../dist/deploy');
    const importers = readdirSync(bundle)
      .filter((file) => file.endsWith('.js'))
      .map((file) => readFileSync(join(bundle, file), 'utf8'))
      .filter((text) => text.includes('/openTelemetry.js'));
    expect(importers).toHaveLength(1);
    expect(importers[0]).toContain('import("./openTelemetry.js")');
    expect(importers[0]).not.toMatch(/from "\.\/openTelemetry\.js"/);

    const away = await startMiner({
      natsUrl: nats.url,
      dataDir: temporaryDirectory(),
      environment: { ...endpoint, OTEL_EXPORTER_OTLP_TIMEOUT: '100', OTEL_BSP_SCHEDULE_DELAY: '100' },
    });
    await waitUntilReady(away);
    expect((await fetch(`${away.publicUrl}/v1/status`)).status).toBe(200);
    await away.written('traces are not sent as they should be');
    expect(await away.end('SIGTERM')).toBe(0);
    expect(away.log().some(({ msg }) => msg === 'request')).toBe(false);
  });

  it('traces a request by OpenTelemetry’s conventions, with its ClickHouse reads', async () => {
    const [nats, collector] = [await startNats(), await startCollector()];
    const dataDir = temporaryDirectory();
    const first = await startMiner({ natsUrl: nats.url, dataDir });
    await waitUntilReady(first);
    const { connection } = await connectTo(nats);
    await publishAll(connection, mixedPublications(60));
    await waitUntilStored(first, 60);
    await first.end('SIGTERM');
    // Memory holds no reading of before the restart.
    const miner = await startMiner({
      natsUrl: nats.url,
      dataDir,
      environment: {
        ...json,
        OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: `${collector.url}/v1/traces`,
        OTEL_SERVICE_NAME: 'wheels',
        OTEL_RESOURCE_ATTRIBUTES: 'service.name=other,deployment.environment.name=test%20bench',
        OTEL_METRICS_EXPORTER: 'otlp',
      },
    });
    await waitUntilReady(miner);
    const traceId = '0af7651916cd43dd8448eb211c80319c';
    const traced = { traceparent: `00-${traceId}-b7ad6b7169203331-01`, tracestate: 'wheel=1,other=2' };
    const path = '/v1/public/installations/wheel.one/observations';
    const requests = [
      ['GET', `${path}?limit=5`],
      ['HEAD', '/v1/status'],
      ['POST', '/v1/status'],
      ['GET', '/no/such/page'],
    ] as const;
    for (const [method, target] of requests)
      await fetch(`${miner.publicUrl}${target}`, { method, headers: traced });
    expect(await miner.end('SIGTERM')).toBe(0);

    const spans = collector.spans.filter((span) => span.traceId === traceId);
    const server = spans.filter(({ kind }) => kind === 2);
    expect(server.map(({ name, attributes }) => [name, toObject(attributes)])).toEqual([
      [
        `GET ${path.replace('wheel.one', '{installationId}')}`,
        {
          'http.request.method': 'GET',
          'http.response.status_code': 200,
          'http.route': path.replace('wheel.one', '{installationId}'),
          'url.scheme': 'http',
          'url.path': path,
          'url.query': 'limit=5',
          'miner.request_id': expect.any(String),
        },
      ],
      ['HEAD /v1/status', expect.objectContaining({ 'http.request.method': 'HEAD' })],
      ['POST /v1/status', expect.objectContaining({ 'http.response.status_code': 404 })],
      [
        'GET',
        {
          'http.request.method': 'GET',
          'http.response.status_code': 404,
          'url.scheme': 'http',
          'url.path': '/no/such/page',
          'miner.request_id': expect.any(String),
        },
      ],
    ]);
    for (const span of server)
      expect(span).toMatchObject({ parentSpanId: 'b7ad6b7169203331', traceState: traced.tracestate });
    const reads = spans.filter(({ kind }) => kind === 3);
    const page = reads.find(({ name }) => name === 'SELECT stored_readings');
    expect(new Set(reads.map(({ parentSpanId }) => parentSpanId))).toEqual(new Set([server[0]?.spanId]));
    expect(toObject(page?.attributes ?? [])).toEqual({
      'db.system.name': 'clickhouse',
      'db.operation.name': 'SELECT',
      'db.collection.name': 'stored_readings',
      'db.query.text': expect.stringMatching(
        /^SELECT .* FROM stored_readings WHERE run = \{run:String\} AND installation_id = \{installation:String\}/,
      ),
    });
    // What nobody asked for has no span.
    expect(collector.spans.filter(({ kind }) => kind === 3)).toEqual(reads);

    expect(collector.resources[0]).toMatchObject({
      'service.name': 'wheels',
      'service.version': packageJson.version,
      'deployment.environment.name': 'test bench',
      'telemetry.sdk.name': 'opentelemetry',
    });
    expect(miner.log().find(({ msg }) => String(msg).includes('without an effect'))?.variables).toEqual([
      'OTEL_METRICS_EXPORTER',
    ]);
  });

  it('traces unnamed methods, clients that leave, and failures', async () => {
    const collector = await startCollector();
    vi.stubEnv('OTEL_EXPORTER_OTLP_ENDPOINT', collector.url);
    whenFinished(() => void vi.unstubAllEnvs());
    const location = { url: 'https://user:password@db.example/wheels' };
    const tracing = await startTracing({ ...process.env, ...json }, location, silentLogger);
    const failing = { select: () => Promise.reject(new TypeError('no')) } as unknown as Database;
    const database = tracing?.traceReads(failing) ?? failing;
    const request = { route: '/v1/core', query: '', requestId: 'one', traceparent: '', tracestate: '' };
    const begin = (method: string) => tracing?.beginTrace({ ...request, method, path: '/v1/core' });
    begin('PURGE')?.end('404 Not Found');
    begin('GET')?.end(null);
    const last = begin('GET');
    await expect(last?.run(() => database.select('SELECT 1'))).rejects.toThrow('no');
    await expect(database.select('SELECT 1')).rejects.toThrow('no');
    last?.end('503 Service Unavailable');
    await tracing?.stop();
    const found = collector.spans.map(({ name, status, attributes }) => [
      name,
      status.code,
      toObject(attributes),
    ]);
    expect(found).toEqual([
      [
        'HTTP /v1/core',
        0,
        expect.objectContaining({
          'http.request.method': '_OTHER',
          'http.request.method_original': 'PURGE',
        }),
      ],
      ['GET /v1/core', 0, expect.objectContaining({ 'error.type': 'client_left' })],
      [
        'SELECT',
        2,
        {
          'db.system.name': 'clickhouse',
          'db.operation.name': 'SELECT',
          'db.query.text': 'SELECT 1',
          'db.namespace': 'wheels',
          'server.address': 'db.example',
          'server.port': 443,
          'error.type': 'TypeError',
        },
      ],
      ['GET /v1/core', 2, expect.objectContaining({ 'http.response.status_code': 503, 'error.type': '503' })],
    ]);
  });

  it('sends protobuf unless JSON is asked for, and names unsupported values', async () => {
    const [nats, collector] = [await natsServer(), await startCollector()];
    const miner = await startMiner({
      natsUrl: nats.url,
      dataDir: temporaryDirectory(),
      environment: {
        OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
        OTEL_EXPORTER_OTLP_PROTOCOL: 'grpc',
        OTEL_PROPAGATORS: 'b3',
        OTEL_RESOURCE_ATTRIBUTES: 'team=wheel-builders',
      },
    });
    await waitUntilReady(miner);
    expect((await fetch(`${miner.publicUrl}/v1/status`)).status).toBe(200);
    expect(await miner.end('SIGTERM')).toBe(0);
    for (const text of ['wheel-builders', 'GET /v1/status', 'url.scheme'])
      expect(collector.protobuf.join('')).toContain(text);
    const refused = miner.log().filter(({ msg }) => String(msg).includes('are not supported'));
    expect(refused).toEqual([
      expect.objectContaining({
        OTEL_EXPORTER_OTLP_PROTOCOL: ['grpc'],
        supported: ['http/protobuf', 'http/json'],
      }),
      expect.objectContaining({ OTEL_PROPAGATORS: ['b3'] }),
    ]);
  });
});
