import { Histogram, type MetricValueWithName, type Registry } from 'prom-client';
import { registerMetrics, type Sample } from '../../../actors/registerMetrics.ts';
import type { RateClass } from '../../routes/rateClasses.ts';

/** Counts of the requests of one route: plain numbers, read when `/metrics` is scraped. */
export interface RouteCounts {
  /** @param status the status line as sent, such as `200 OK`. */
  answered(status: string, seconds: number): void;
  failed(): void;
}

export type HttpMetrics = ReturnType<typeof createHttpMetrics>;

/** Upper bounds of the delay from receipt to response, in seconds. A wheel reports every few seconds. */
const delayBuckets = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120];

interface Counts {
  ok: number;
  notModified: number;
  /** By the first three characters of the status. */
  readonly others: Map<string, number>;
  failed: number;
}

export function createHttpMetrics(registry: Registry, implementation: string) {
  const routes = new Map<string, Counts>();
  let preparations = 0;
  let newestShownMs = Number.NEGATIVE_INFINITY;

  const measure = registerDurations(registry);
  const delays = new Histogram({
    name: 'miner_reading_delay_seconds',
    help: 'Time from the receipt of a reading at its gateway until the first response that shows it.',
    buckets: delayBuckets,
    registers: [registry],
  });
  registerMetrics(registry, {
    miner_http_requests_total: [
      'Answered requests, by route and status.',
      () =>
        [...routes].flatMap(([route, { ok, notModified, others }]) =>
          [['200', ok] as const, ['304', notModified] as const, ...others]
            .filter(([, count]) => count > 0)
            .map(([status, count]): Sample => [count, route, status]),
        ),
      'route',
      'status',
    ],
    miner_http_prepared_responses_total: ['Responses that were serialized.', () => preparations],
    miner_http_failures_total: [
      'Requests whose body could not be computed or was invalid.',
      // Zeros too: an alert sees a counter rise, but not appear.
      () => Array.from(routes, ([route, { failed }]) => [failed, route]),
      'route',
    ],
    miner_http_server_info: [
      'Which implementation of uWebSockets.js runs; always 1.',
      () => [[1, implementation]],
      'implementation',
    ],
  });

  return {
    /** Registers a route, or the handler of unknown paths, by its name in the metrics. */
    route: (name: string, rateClass: RateClass): RouteCounts => {
      const counts = routes.get(name) ?? { ok: 0, notModified: 0, others: new Map(), failed: 0 };
      routes.set(name, counts);
      const observe = measure(rateClass);
      return {
        answered: (status, seconds) => {
          observe(seconds);
          if (status === '200 OK') counts.ok++;
          else if (status === '304 Not Modified') counts.notModified++;
          else {
            const code = status.slice(0, 3);
            counts.others.set(code, (counts.others.get(code) ?? 0) + 1);
          }
        },
        failed: () => {
          counts.failed++;
        },
      };
    },
    /** Counts a response that was serialized. */
    prepared: () => {
      preparations++;
    },
    /** Measures the delay of a reading when the first response that shows it is prepared. */
    showed: (receivedAtMs: number, nowMs: number) => {
      if (receivedAtMs <= newestShownMs) return;
      // The first reading shown may have been received long before this process started.
      if (newestShownMs !== Number.NEGATIVE_INFINITY)
        delays.observe(Math.max(0, nowMs - receivedAtMs) / 1000);
      newestShownMs = receivedAtMs;
    },
  };
}

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
function registerDurations(registry: Registry): (rateClass: RateClass) => (seconds: number) => void {
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
