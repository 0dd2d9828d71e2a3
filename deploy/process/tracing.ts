import type { Tracing } from './openTelemetry.ts';

/** Variables of OpenTelemetry itself, one of which turns it on. */
const endpoints = ['OTEL_EXPORTER_OTLP_TRACES_ENDPOINT', 'OTEL_EXPORTER_OTLP_ENDPOINT'] as const;

/** Null without an endpoint in the environment; then nothing of OpenTelemetry is loaded. */
export async function startTracing(
  environment: Readonly<Record<string, string | undefined>>,
): Promise<Tracing | null> {
  if (endpoints.every((name) => (environment[name] ?? '') === '')) return null;
  const { createTracing } = await import('./openTelemetry.ts');
  return createTracing();
}
