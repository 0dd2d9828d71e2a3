import { Histogram, type MetricValueWithName, type Registry } from 'prom-client';
import type { RateClass } from '../../routes/rateClasses.ts';

/** Upper bounds in seconds. A polled view takes microseconds, a page from ClickHouse milliseconds, and a read ends after ten seconds. */
const bounds = [
  0.00005, 0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10,
];
const metric = {
  name: 'miner_http_request_duration_seconds',
  help: 'Time from the arrival of a request until its response was written, by rate class; for an event stream, its headers.',
  labelNames: ['class'] as const,
};

interface Durations {
  /** Observations per bucket, not cumulative; the last bucket holds everything above the highest bound. */
  readonly counts: Float64Array;
  sum: number;
}

/**
 * Registers a histogram whose observations only add to an array. prom-client's histogram hashes its labels at each observation, which costs more than a
 * polled response.
 *
 * @returns a function that returns how to observe seconds of a rate class.
 */
export function registerDurations(registry: Registry): (rateClass: RateClass) => (seconds: number) => void {
  const byClass = new Map<RateClass, Durations>();
  Object.assign(new Histogram({ ...metric, buckets: bounds, registers: [registry] }), {
    // prom-client builds both the text and the JSON of a registry from this method. Its types do not show it.
    getForPromString: async () => ({
      name: metric.name,
      help: metric.help,
      type: 'histogram',
      values: [...byClass].flatMap(([rateClass, durations]) => listBuckets(rateClass, durations)),
    }),
  });
  return (rateClass) => {
    const durations = byClass.get(rateClass) ?? { counts: new Float64Array(bounds.length + 1), sum: 0 };
    byClass.set(rateClass, durations);
    const { counts } = durations;
    return (seconds) => {
      durations.sum += seconds;
      let at = 0;
      while (at < bounds.length && seconds > (bounds[at] as number)) at++;
      counts[at] = (counts[at] as number) + 1;
    };
  };
}

function listBuckets(rateClass: RateClass, { counts, sum }: Durations): MetricValueWithName<'class'>[] {
  let count = 0;
  const buckets = [...bounds, '+Inf'].map((le, at) => {
    count += counts[at] as number;
    return { labels: { class: rateClass, le }, value: count, metricName: `${metric.name}_bucket` };
  });
  return [
    ...buckets,
    { labels: { class: rateClass }, value: sum, metricName: `${metric.name}_sum` },
    { labels: { class: rateClass }, value: count, metricName: `${metric.name}_count` },
  ];
}
