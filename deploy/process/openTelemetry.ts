import { AsyncLocalStorage } from 'node:async_hooks';
import {
  type Attributes,
  type Context,
  DiagLogLevel,
  diag,
  ROOT_CONTEXT,
  type Span,
  SpanKind,
  SpanStatusCode,
  type TextMapGetter,
  type Tracer,
  trace,
} from '@opentelemetry/api';
import {
  diagLogLevelFromString,
  getStringFromEnv,
  TRACE_PARENT_HEADER,
  TRACE_STATE_HEADER,
  W3CTraceContextPropagator,
} from '@opentelemetry/core';
import { OTLPTraceExporter as JsonExporter } from '@opentelemetry/exporter-trace-otlp-http';
import { OTLPTraceExporter as ProtobufExporter } from '@opentelemetry/exporter-trace-otlp-proto';
import {
  defaultResource,
  detectResources,
  envDetector,
  resourceFromAttributes,
} from '@opentelemetry/resources';
import { BatchSpanProcessor, NodeTracerProvider } from '@opentelemetry/sdk-trace-node';
import {
  ATTR_DB_COLLECTION_NAME,
  ATTR_DB_NAMESPACE,
  ATTR_DB_OPERATION_NAME,
  ATTR_DB_QUERY_TEXT,
  ATTR_DB_SYSTEM_NAME,
  ATTR_ERROR_TYPE,
  ATTR_HTTP_REQUEST_METHOD,
  ATTR_HTTP_REQUEST_METHOD_ORIGINAL,
  ATTR_HTTP_RESPONSE_STATUS_CODE,
  ATTR_HTTP_ROUTE,
  ATTR_SERVER_ADDRESS,
  ATTR_SERVER_PORT,
  ATTR_SERVICE_NAME,
  ATTR_SERVICE_VERSION,
  ATTR_URL_PATH,
  ATTR_URL_QUERY,
  ATTR_URL_SCHEME,
  HTTP_REQUEST_METHOD_VALUE_OTHER,
} from '@opentelemetry/semantic-conventions';
import { DB_SYSTEM_NAME_VALUE_CLICKHOUSE } from '@opentelemetry/semantic-conventions/incubating';
import type { Logger } from 'pino';
import type { InputStreamName } from '../../actors/messages/subjects.ts';
import type { BeginTrace, TracedRequest } from '../../http/server/requests/requestTrace.ts';
import packageJson from '../../package.json' with { type: 'json' };
import type { Database, DatabaseLocation } from '../../storage/clickhouse/database.ts';
import type { FoldedBatchReport } from '../../streams/pipeline/streamPipeline.ts';
import type { TracingSettings } from './tracingSettings.ts';

const serviceName = 'miner';
/** Methods with a name of their own; attackers choose the others. */
const knownMethods = new Set([
  'GET',
  'HEAD',
  'POST',
  'PUT',
  'DELETE',
  'CONNECT',
  'OPTIONS',
  'TRACE',
  'PATCH',
]);
/** OpenTelemetry repeats its complaint with each batch. */
const complaintRepeatedAfterMs = 60_000;

/** Sends traces of requests and batches to a collector. */
export interface Tracing {
  readonly beginTrace: BeginTrace;
  /** Traces the reads that belong to a request. */
  traceReads(database: Database): Database;
  readonly onBatch: (stream: InputStreamName, batch: FoldedBatchReport) => void;
  /** Sends the remaining spans. */
  stop(): Promise<void>;
}

/** OpenTelemetry's own variables set the collector, the resource and the sampler; `OTEL_BSP_MAX_QUEUE_SIZE` bounds unsent spans. */
export function createTracing(
  { protocol, readsParents }: TracingSettings,
  location: DatabaseLocation,
  logger: Logger,
): Tracing {
  logComplaints(logger);
  const Exporter = protocol === 'http/json' ? JsonExporter : ProtobufExporter;
  const provider = new NodeTracerProvider({
    resource: defaultResource()
      .merge(
        resourceFromAttributes({
          [ATTR_SERVICE_NAME]: serviceName,
          [ATTR_SERVICE_VERSION]: packageJson.version,
        }),
      )
      .merge(detectResources({ detectors: [envDetector] })),
    spanProcessors: [new BatchSpanProcessor(new Exporter())],
  });
  const tracer = provider.getTracer(serviceName, packageJson.version);
  const propagator = new W3CTraceContextPropagator();
  /** The request on whose behalf the program runs. */
  const current = new AsyncLocalStorage<Context>();

  return {
    beginTrace: (request) => {
      const parent = readsParents ? propagator.extract(ROOT_CONTEXT, request, traceHeaders) : ROOT_CONTEXT;
      const span = startRequestSpan(tracer, request, parent);
      const context = trace.setSpan(parent, span);
      return {
        run: (work) => current.run(context, work),
        end: (status) => endRequestSpan(span, status),
      };
    },
    traceReads: (database) => {
      const shared = { [ATTR_DB_SYSTEM_NAME]: DB_SYSTEM_NAME_VALUE_CLICKHOUSE, ...describeServer(location) };
      async function measure<Result>(sql: string, read: () => Promise<Result>): Promise<Result> {
        const context = current.getStore();
        if (context === undefined) return read();
        const span = startReadSpan(tracer, sql, shared, context);
        try {
          return await read();
        } catch (error) {
          span.setAttribute(ATTR_ERROR_TYPE, error instanceof Error ? error.name : typeof error);
          span.setStatus({ code: SpanStatusCode.ERROR });
          throw error;
        } finally {
          span.end();
        }
      }
      return {
        ...database,
        select: (sql, ...rest) => measure(sql, () => database.select(sql, ...rest)),
        selectPlain: (columns, source, ...rest) =>
          measure(`SELECT ${columns.join(', ')} ${source}`, () =>
            database.selectPlain(columns, source, ...rest),
          ),
      };
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

const traceHeaders: TextMapGetter<TracedRequest> = {
  keys: () => [TRACE_PARENT_HEADER, TRACE_STATE_HEADER],
  get: (request, name) => (name === TRACE_PARENT_HEADER ? request.traceparent : request.tracestate),
};

function startRequestSpan(tracer: Tracer, request: TracedRequest, parent: Context): Span {
  const { path, query, route, requestId } = request;
  const isKnown = knownMethods.has(request.method);
  const attributes: Attributes = {
    [ATTR_HTTP_REQUEST_METHOD]: isKnown ? request.method : HTTP_REQUEST_METHOD_VALUE_OTHER,
    [ATTR_URL_SCHEME]: 'http', // The proxy terminates TLS.
    [ATTR_URL_PATH]: path,
    'miner.request_id': requestId,
    ...(!isKnown && { [ATTR_HTTP_REQUEST_METHOD_ORIGINAL]: request.method }),
    ...(query !== '' && { [ATTR_URL_QUERY]: query }),
    ...(route !== null && { [ATTR_HTTP_ROUTE]: route }),
  };
  const method = isKnown ? request.method : 'HTTP';
  const name = route === null ? method : `${method} ${route}`;
  return tracer.startSpan(name, { kind: SpanKind.SERVER, attributes }, parent);
}

function endRequestSpan(span: Span, status: string | null): void {
  if (status === null) span.setAttribute(ATTR_ERROR_TYPE, 'client_left');
  else {
    const code = Number(status.slice(0, 3));
    span.setAttribute(ATTR_HTTP_RESPONSE_STATUS_CODE, code);
    if (code >= 500) {
      span.setAttribute(ATTR_ERROR_TYPE, String(code));
      span.setStatus({ code: SpanStatusCode.ERROR });
    }
  }
  span.end();
}

/** Starts the span of a statement. Its text holds no values, which are sent as parameters. */
function startReadSpan(tracer: Tracer, sql: string, shared: Attributes, context: Context): Span {
  const [, table = null] = /\bFROM (\w+)/.exec(sql) ?? [];
  const attributes = {
    ...shared,
    [ATTR_DB_OPERATION_NAME]: 'SELECT',
    ...(table !== null && { [ATTR_DB_COLLECTION_NAME]: table }),
    [ATTR_DB_QUERY_TEXT]: sql.replaceAll(/\s+/g, ' '),
  };
  const name = table === null ? 'SELECT' : `SELECT ${table}`;
  return tracer.startSpan(name, { kind: SpanKind.CLIENT, attributes }, context);
}

function describeServer(location: DatabaseLocation): Attributes {
  if (!('url' in location)) return {};
  const { hostname, port, protocol, pathname } = new URL(location.url);
  const defaultPort = protocol === 'https:' ? 443 : 80;
  return {
    [ATTR_SERVER_ADDRESS]: hostname,
    [ATTR_SERVER_PORT]: port === '' ? defaultPort : Number(port),
    ...(pathname.length > 1 && { [ATTR_DB_NAMESPACE]: pathname.slice(1) }),
  };
}

/** Logs what OpenTelemetry complains about, such as a collector that does not answer: once a minute for each text. */
function logComplaints(logger: Logger): void {
  let last = { text: '', atMs: Number.NEGATIVE_INFINITY };
  const complain = (text: string) => {
    const nowMs = performance.now();
    if (text === last.text && nowMs - last.atMs < complaintRepeatedAfterMs) return;
    last = { text, atMs: nowMs };
    logger.warn({ detail: text }, 'traces are not sent as they should be');
  };
  const debug = (text: string) => logger.debug({ detail: text }, 'OpenTelemetry');
  diag.setLogger(
    { error: complain, warn: complain, info: debug, debug, verbose: debug },
    {
      logLevel: diagLogLevelFromString(getStringFromEnv('OTEL_LOG_LEVEL')) ?? DiagLogLevel.INFO,
      suppressOverrideMessage: true,
    },
  );
}
