import { readdirSync, readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { join, resolve } from 'node:path';
import { describe, expect, it } from 'vitest';
import { startTracing } from '../../deploy/process/tracing.ts';
import packageJson from '../../package.json' with { type: 'json' };
import { eventually } from '../support/processes/childProcess.ts';
import { shareInFile, whenFinished } from '../support/processes/lifetime.ts';
import { startMiner, waitUntilReady, waitUntilStored } from '../support/processes/minerProcess.ts';
import { connectTo, startNats } from '../support/processes/natsServer.ts';
import { temporaryDirectory } from '../support/processes/temporaryDirectory.ts';
import { mixedPublications, publishAll } from '../support/readings/readingMessages.ts';

interface Span {
  readonly name: string;
  readonly traceId: string;
  readonly parentSpanId?: string;
  readonly attributes: readonly { readonly key: string; readonly value: Readonly<Record<string, unknown>> }[];
}
interface ExportRequest {
  readonly resourceSpans: readonly { readonly scopeSpans: readonly { readonly spans: readonly Span[] }[] }[];
}

/** An OpenTelemetry collector that keeps received spans. */
async function startCollector() {
  const spans: Span[] = [];
  const server = createServer(async (request, response) => {
    let body = '';
    for await (const chunk of request) body += chunk;
    const { resourceSpans } = JSON.parse(body) as ExportRequest;
    for (const { scopeSpans } of resourceSpans) for (const scope of scopeSpans) spans.push(...scope.spans);
    response.setHeader('Content-Type', 'application/json').end('{}');
  }).listen(0, '127.0.0.1');
  whenFinished(() => server.close());
  const { port } = await eventually(() => server.address() as { readonly port: number } | null, 'a port');
  return { url: `http://127.0.0.1:${port}`, spans };
}

describe('a running process', () => {
  const natsServer = shareInFile(() => startNats());

  it('logs names of levels, ISO times, its version, and every n-th request with its ID; sends traces of requests and batches', async () => {
    const [nats, collector] = [await natsServer(), await startCollector()];
    const miner = await startMiner({
      natsUrl: nats.url,
      dataDir: temporaryDirectory(),
      environment: { MINER_ACCESS_LOG: '3', OTEL_EXPORTER_OTLP_ENDPOINT: collector.url },
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

  it('by default logs no requests and does not load OpenTelemetry; without its collector only traces are lost', async () => {
    const nats = await natsServer();
    // It has its own file, which is loaded on demand.
    expect(await startTracing({ OTEL_EXPORTER_OTLP_ENDPOINT: '' })).toBeNull();
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
      environment: { OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:1' },
    });
    await waitUntilReady(away);
    expect((await fetch(`${away.publicUrl}/v1/status`)).status).toBe(200);
    expect(await away.end('SIGTERM')).toBe(0);
    expect(away.log().some(({ msg }) => msg === 'request')).toBe(false);
  });
});
