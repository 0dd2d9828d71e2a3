import { type Context, ROOT_CONTEXT, SpanKind, SpanStatusCode, trace } from '@opentelemetry/api';
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-http';
import { resourceFromAttributes } from '@opentelemetry/resources';
import { BatchSpanProcessor, NodeTracerProvider } from '@opentelemetry/sdk-trace-node';
import type { InputStreamName } from '../../actors/messages/subjects.ts';
import type { OnAnswered } from '../../http/server/requests/answeredRequest.ts';
import packageJson from '../../package.json' with { type: 'json' };
import type { FoldedBatchReport } from '../../streams/pipeline/streamPipeline.ts';

const serviceName = 'miner';
/** W3C Trace Context, version 00. */
const traceparentPattern = /^00-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})$/;

/** Sends traces of requests and batches to a collector. */
export interface Tracing {
  readonly onAnswered: OnAnswered;
  readonly onBatch: (stream: InputStreamName, batch: FoldedBatchReport) => void;
  /** Sends the remaining spans. */
  stop(): Promise<void>;
}

/**
 * A span is made at the end of a request or batch, with the time of its start, so nothing is carried along meanwhile. OpenTelemetry's own variables set
 * the endpoint, its headers and the sampler; `OTEL_BSP_MAX_QUEUE_SIZE` bounds unsent spans.
 */
export function createTracing(): Tracing {
  const provider = new NodeTracerProvider({
    resource: resourceFromAttributes({
      'service.name': process.env.OTEL_SERVICE_NAME ?? serviceName,
      'service.version': packageJson.version,
    }),
    spanProcessors: [new BatchSpanProcessor(new OTLPTraceExporter())],
  });
  const tracer = provider.getTracer(serviceName, packageJson.version);

  return {
    onAnswered: ({ route, requestId, status, seconds, traceparent }) => {
      const endMs = Date.now();
      const code = Number(status.slice(0, 3));
      const span = tracer.startSpan(
        `GET ${route}`,
        {
          kind: SpanKind.SERVER,
          startTime: endMs - seconds * 1000,
          attributes: {
            'http.route': route,
            'http.response.status_code': code,
            'miner.request_id': requestId,
          },
        },
        readParent(traceparent),
      );
      if (code >= 500) span.setStatus({ code: SpanStatusCode.ERROR });
      span.end(endMs);
    },
    onBatch: (stream, { messages, position, seconds }) => {
      const endMs = Date.now();
      const attributes = { 'miner.stream': stream, 'miner.messages': messages, 'miner.position': position };
      const startTime = endMs - seconds * 1000;
      const options = { kind: SpanKind.CONSUMER, startTime, attributes };
      tracer.startSpan(`fold ${stream}`, options, ROOT_CONTEXT).end(endMs);
    },
    stop: () => provider.shutdown(),
  };
}

function readParent(traceparent: string): Context {
  const [, traceId, spanId, flags] = traceparentPattern.exec(traceparent) ?? [];
  if (traceId === undefined || spanId === undefined) return ROOT_CONTEXT;
  const traceFlags = Number.parseInt(flags ?? '00', 16);
  return trace.setSpanContext(ROOT_CONTEXT, { traceId, spanId, traceFlags, isRemote: true });
}
