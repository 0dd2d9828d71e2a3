import type { Logger } from 'pino';

type Environment = Readonly<Record<string, string | undefined>>;

/** How traces are sent. OpenTelemetry itself reads the other variables. */
export interface TracingSettings {
  readonly protocol: (typeof protocols)[number];
  /** Whether the headers of W3C Trace Context name the trace that a request belongs to. */
  readonly readsParents: boolean;
}

const protocols = ['http/protobuf', 'http/json'] as const;

const ofExporter = [
  'ENDPOINT',
  'PROTOCOL',
  'HEADERS',
  'TIMEOUT',
  'COMPRESSION',
  'CERTIFICATE',
  'CLIENT_CERTIFICATE',
  'CLIENT_KEY',
];
const ofAttributes = ['ATTRIBUTE_VALUE_LENGTH_LIMIT', 'ATTRIBUTE_COUNT_LIMIT'];

/** Values that have an effect here, of the variables for which OpenTelemetry defines others. */
export const supportedValues = {
  OTEL_TRACES_EXPORTER: ['otlp', 'none'],
  OTEL_EXPORTER_OTLP_PROTOCOL: protocols,
  OTEL_EXPORTER_OTLP_TRACES_PROTOCOL: protocols,
  OTEL_PROPAGATORS: ['tracecontext', 'baggage', 'none'],
} as const;
type LimitedVariable = keyof typeof supportedValues;

/** Variables of OpenTelemetry that have an effect. */
export const tracingVariables: readonly string[] = [
  'OTEL_SDK_DISABLED',
  'OTEL_TRACES_EXPORTER',
  ...ofExporter.map((name) => `OTEL_EXPORTER_OTLP_${name}`),
  ...ofExporter.map((name) => `OTEL_EXPORTER_OTLP_TRACES_${name}`),
  'OTEL_SERVICE_NAME',
  'OTEL_RESOURCE_ATTRIBUTES',
  'OTEL_PROPAGATORS',
  'OTEL_TRACES_SAMPLER',
  'OTEL_TRACES_SAMPLER_ARG',
  'OTEL_BSP_SCHEDULE_DELAY',
  'OTEL_BSP_EXPORT_TIMEOUT',
  'OTEL_BSP_MAX_QUEUE_SIZE',
  'OTEL_BSP_MAX_EXPORT_BATCH_SIZE',
  ...ofAttributes.map((name) => `OTEL_${name}`),
  ...ofAttributes.map((name) => `OTEL_SPAN_${name}`),
  'OTEL_LOG_LEVEL',
];

/** Whether traces are wanted: a collector is named, or the exporter is. */
export function isTracingOn(environment: Environment): boolean {
  if (environment.OTEL_SDK_DISABLED?.trim().toLowerCase() === 'true') return false;
  const wanted = readList(environment, 'OTEL_TRACES_EXPORTER');
  if (wanted.includes('none')) return false;
  const endpoints = ['OTEL_EXPORTER_OTLP_TRACES_ENDPOINT', 'OTEL_EXPORTER_OTLP_ENDPOINT'];
  return wanted.includes('otlp') || endpoints.some((name) => readList(environment, name).length > 0);
}

/** Reads the settings. As OpenTelemetry demands, an unsupported value is reported, and counts as unset. */
export function readTracingSettings(environment: Environment, logger: Logger): TracingSettings {
  const others = Object.keys(environment).filter(
    (name) => name.startsWith('OTEL_') && !tracingVariables.includes(name),
  );
  if (others.length > 0)
    logger.warn({ variables: others }, 'variables of OpenTelemetry without an effect here');

  function find<Name extends LimitedVariable>(name: Name): (typeof supportedValues)[Name][number][] {
    const given: readonly string[] = readList(environment, name);
    const supported: readonly (typeof supportedValues)[Name][number][] = supportedValues[name];
    const unsupported = given.filter((value) => !supported.some((one) => one === value));
    if (unsupported.length > 0)
      logger.warn({ [name]: unsupported, supported }, 'values of OpenTelemetry that are not supported here');
    return supported.filter((value) => given.includes(value));
  }
  find('OTEL_TRACES_EXPORTER');
  const [ofTraces] = find('OTEL_EXPORTER_OTLP_TRACES_PROTOCOL');
  const [ofAll] = find('OTEL_EXPORTER_OTLP_PROTOCOL');
  const chosen = find('OTEL_PROPAGATORS');
  return {
    protocol: ofTraces ?? ofAll ?? 'http/protobuf',
    readsParents: chosen.length === 0 || chosen.includes('tracecontext'),
  };
}

function readList(environment: Environment, name: string): string[] {
  return (environment[name] ?? '')
    .split(',')
    .map((value) => value.trim())
    .filter((value) => value !== '');
}
