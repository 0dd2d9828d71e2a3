import { Counter, Gauge, type Registry } from 'prom-client';

/** Counts of the public server: plain integers, read when `/metrics` is scraped. */
export interface HttpMetrics {
  answered(route: string, status: string): void;
  prepared(): void;
  failed(route: string): void;
  shed(route: string): void;
  reading(change: 1 | -1): void;
  readonly readsInFlight: number;
}

export function createHttpMetrics(registry: Registry, implementation: string): HttpMetrics {
  const answers = new Map<string, Map<string, number>>();
  const failures = new Map<string, number>();
  const shed = new Map<string, number>();
  let preparations = 0;
  let readsInFlight = 0;
  new Counter({
    name: 'miner_http_requests_total',
    help: 'Requests answered, by route and status.',
    labelNames: ['route', 'status'],
    registers: [registry],
    collect() {
      this.reset();
      for (const [route, byStatus] of answers) {
        for (const [status, count] of byStatus) this.inc({ route, status: status.slice(0, 3) }, count);
      }
    },
  });
  new Counter({
    name: 'miner_http_prepared_responses_total',
    help: 'Responses that were serialized; far fewer than requests, since one serves all until its view changes.',
    registers: [registry],
    collect() {
      this.reset();
      this.inc(preparations);
    },
  });
  new Counter({
    name: 'miner_http_failures_total',
    help: 'Requests whose body could not be computed or was invalid; answered with 500, or as unavailable.',
    labelNames: ['route'],
    registers: [registry],
    collect() {
      this.reset();
      for (const [route, count] of failures) this.inc({ route }, count);
    },
  });
  new Counter({
    name: 'miner_http_shed_requests_total',
    help: 'Requests of expensive routes that were answered 503 because the event loop was late.',
    labelNames: ['route'],
    registers: [registry],
    collect() {
      this.reset();
      for (const [route, count] of shed) this.inc({ route }, count);
    },
  });
  new Gauge({
    name: 'miner_http_reads_in_flight',
    help: 'Requests that wait for the database.',
    registers: [registry],
    collect() {
      this.set(readsInFlight);
    },
  });
  new Gauge({
    name: 'miner_http_server_info',
    help: 'Which implementation of uWebSockets.js runs; always 1.',
    labelNames: ['implementation'],
    registers: [registry],
  }).set({ implementation }, 1);

  return {
    answered: (route, status) => {
      const byStatus = answers.get(route) ?? new Map<string, number>();
      if (byStatus.size === 0) answers.set(route, byStatus);
      byStatus.set(status, (byStatus.get(status) ?? 0) + 1);
    },
    prepared: () => {
      preparations++;
    },
    failed: (route) => {
      failures.set(route, (failures.get(route) ?? 0) + 1);
    },
    shed: (route) => {
      shed.set(route, (shed.get(route) ?? 0) + 1);
    },
    reading: (change) => {
      readsInFlight += change;
    },
    get readsInFlight() {
      return readsInFlight;
    },
  };
}
