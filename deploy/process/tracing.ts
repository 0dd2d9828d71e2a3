import type { Tracing } from './openTelemetry.ts';

/** OpenTelemetry's own variables. Either turns tracing on. */
const endpoints = ['OTEL_EXPORTER_OTLP_TRACES_ENDPOINT', 'OTEL_EXPORTER_OTLP_ENDPOINT'] as const;

/** Starts tracing. Null without an endpoint in the environment; then OpenTelemetry is not loaded. */
export async function startTracing(
  environment: Readonly<Record<string, string | undefined>>,
): Promise<Tracing | null> {
  if (endpoints.every((name) => (environment[name] ?? '') === '')) return null;
  const { createTracing } = await import('./openTelemetry.ts');
  return createTracing();
}
