import Negotiator from 'negotiator';
import { type Metric, type MetricType, type OpenMetricsContentType, Registry } from 'prom-client';

/** Content types of `/metrics`. Prometheus reads both; other collectors may read only one. */
export const metricsTypes = {
  text: Registry.PROMETHEUS_CONTENT_TYPE,
  openMetrics: Registry.OPENMETRICS_CONTENT_TYPE,
} as const;
export type MetricsFormat = keyof typeof metricsTypes;

/** Longer headers are ignored. Prometheus sends about 200 characters. */
const acceptCharactersMax = 1_024;
/** How a client wants names outside of ASCII. No metric has one. */
const escapingParameter = /;\s*escaping=[\w-]+/g;

/** Chooses the format from `Accept`: text, unless OpenMetrics is preferred. */
export function chooseMetricsFormat(accept: string): MetricsFormat {
  if (accept.length > acceptCharactersMax) return 'text';
  const negotiator = new Negotiator({ headers: { accept: accept.replaceAll(escapingParameter, '') } });
  const preferred = negotiator.mediaType(Object.values(metricsTypes));
  return preferred === metricsTypes.openMetrics ? 'openMetrics' : 'text';
}

/** Collects the metrics. */
export async function writeMetrics(registry: Registry, format: MetricsFormat): Promise<string> {
  if (format === 'text') return registry.metrics();
  const copy = new Registry<OpenMetricsContentType>();
  copy.setContentType(metricsTypes.openMetrics);
  // Every registered metric has these methods.
  for (const metric of registry.getMetricsAsArray() as unknown as CollectedMetric[])
    copy.registerMetric(shareMetric(metric) as unknown as Metric);
  return copy.metrics();
}

/** The part of a metric that a registry reads. */
interface CollectedMetric {
  readonly name: string;
  readonly type: MetricType;
  get(): Promise<object>;
  /** A histogram's values in a shorter form. */
  getForPromString?(): Promise<object>;
}

/** A registry of OpenMetrics renames its counters. It gets objects with names of their own, which read the values of the metrics. */
function shareMetric(metric: CollectedMetric): CollectedMetric {
  const { name, type } = metric;
  const shared: CollectedMetric = {
    name,
    type,
    get: async () => ({ ...(await (metric.getForPromString?.() ?? metric.get())), name: shared.name }),
  };
  return shared;
}
