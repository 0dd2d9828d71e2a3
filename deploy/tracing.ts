import type { InputStreamName } from '../actors/messages/subjects.ts';
import type { OnAnswered } from '../http/server/answeredRequest.ts';
import type { FoldedBatchReport } from '../streams/streamPipeline.ts';

/** Traces of requests and batches, on their way to a collector. */
export interface Tracing {
  readonly onAnswered: OnAnswered;
  readonly onBatch: (stream: InputStreamName, batch: FoldedBatchReport) => void;
  /** Sends what is not sent yet. */
  stop(): Promise<void>;
}

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
