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

/** A histogram of durations. An observation only adds to an array. */
export interface Durations {
  observe(seconds: number): void;
  /** Observations per bucket, not cumulative; the last bucket holds everything above the highest bound. */
  readonly counts: Float64Array;
  sum(): number;
}

export function createDurations(): Durations {
  const counts = new Float64Array(bounds.length + 1);
  let sum = 0;
  return {
    counts,
    sum: () => sum,
    observe: (seconds) => {
      sum += seconds;
      let at = 0;
      while (at < bounds.length && seconds > (bounds[at] as number)) at++;
      counts[at] = (counts[at] as number) + 1;
    },
  };
}

/** Registers the durations of all rate classes as one metric, read when `/metrics` is scraped. */
export function registerDurations(registry: Registry, byClass: ReadonlyMap<RateClass, Durations>): void {
  new ScrapedHistogram(registry, byClass);
}

/** Replaces prom-client's histogram, which hashes its labels at each observation. That costs more than a polled response. */
class ScrapedHistogram extends Histogram<'class'> {
  readonly #byClass: ReadonlyMap<RateClass, Durations>;

  constructor(registry: Registry, byClass: ReadonlyMap<RateClass, Durations>) {
    super({ ...metric, buckets: bounds, registers: [registry] });
    this.#byClass = byClass;
  }

  /** prom-client builds both the text and the JSON of a registry from this method. Its types do not show it. */
  async getForPromString() {
    const values = [...this.#byClass].flatMap(([rateClass, durations]) => listSamples(rateClass, durations));
    return { name: metric.name, help: metric.help, type: 'histogram', values };
  }
}

function listSamples(rateClass: RateClass, durations: Durations): MetricValueWithName<'class'>[] {
  let count = 0;
  const buckets = [...bounds, '+Inf'].map((le, at) => {
    count += durations.counts[at] as number;
    return { labels: { class: rateClass, le }, value: count, metricName: `${metric.name}_bucket` };
  });
  return [
    ...buckets,
    { labels: { class: rateClass }, value: durations.sum(), metricName: `${metric.name}_sum` },
    { labels: { class: rateClass }, value: count, metricName: `${metric.name}_count` },
  ];
}
