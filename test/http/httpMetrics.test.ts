import { Registry } from 'prom-client';
import { expect, it } from 'vitest';
import { createHttpMetrics } from '../../http/server/answers/httpMetrics.ts';

it('durations of requests are shown by rate class, cumulative, in seconds', async () => {
  const registry = new Registry();
  const metrics = createHttpMetrics(registry, 'native');
  metrics.route('/idle', 'metadata');
  const [telemetry, page] = [
    metrics.route('/telemetry', 'publicFast'),
    metrics.route('/page', 'publicHeavy'),
  ];
  for (const seconds of [0.00005, 0.00006, 0.2, 11]) telemetry.answered('200 OK', seconds);
  page.answered('503 Service Unavailable', 0.003);
  const name = 'miner_http_request_duration_seconds';
  const lines = (await registry.metrics()).split('\n');
  expect(lines).toContain(`# TYPE ${name} histogram`);
  const find = (sample: string) => Number(lines.find((line) => line.startsWith(`${sample} `))?.split(' ')[1]);
  const bucket = (le: string) => find(`${name}_bucket{class="publicFast",le="${le}"}`);
  expect(['0.00005', '0.0001', '0.1', '0.25', '10', '+Inf'].map(bucket)).toEqual([1, 2, 2, 3, 3, 4]);
  expect(find(`${name}_sum{class="publicFast"}`)).toBeCloseTo(11.20011);
  expect(find(`${name}_count{class="publicFast"}`)).toBe(4);
  expect(find(`${name}_count{class="publicHeavy"}`)).toBe(1);
  expect(find(`${name}_count{class="metadata"}`)).toBe(0);
});

it('the delay of a reading is that of its first response', async () => {
  const registry = new Registry();
  const metrics = createHttpMetrics(registry, 'native');
  metrics.showed(1_000, 90_000);
  metrics.showed(91_000, 91_250);
  metrics.showed(91_000, 95_000);
  // The clock of a gateway may be ahead.
  metrics.showed(99_000, 98_000);
  const text = await registry.metrics();
  expect(text).toContain('miner_reading_delay_seconds_sum 0.25\n');
  expect(text).toContain('miner_reading_delay_seconds_count 2\n');
});

it('requests are counted by route, status and failure', async () => {
  const registry = new Registry();
  const metrics = createHttpMetrics(registry, 'native');
  const route = metrics.route('/v1/core', 'publicFast');
  for (const status of ['200 OK', '304 Not Modified', '304 Not Modified', '429 Too Many Requests'])
    route.answered(status, 0);
  route.failed();
  const text = await registry.metrics();
  for (const line of [
    'miner_http_requests_total{route="/v1/core",status="200"} 1',
    'miner_http_requests_total{route="/v1/core",status="304"} 2',
    'miner_http_requests_total{route="/v1/core",status="429"} 1',
    'miner_http_failures_total{route="/v1/core"} 1',
  ])
    expect(text).toContain(`${line}\n`);
});
