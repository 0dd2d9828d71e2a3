import { Counter, Gauge, type Registry } from 'prom-client';

/** What happens to clients of the event stream, as it is counted. */
export interface EventStreamMetrics {
  slowClient(): void;
  failedRead(): void;
}

export function createEventStreamMetrics(registry: Registry, countClients: () => number): EventStreamMetrics {
  let slow = 0;
  let failedReads = 0;
  new Gauge({
    name: 'miner_event_stream_clients',
    help: 'Clients that listen to the event stream.',
    registers: [registry],
    collect() {
      this.set(countClients());
    },
  });
  new Counter({
    name: 'miner_event_stream_slow_clients_total',
    help: 'Streams that were ended because the client did not read them.',
    registers: [registry],
    collect() {
      this.reset();
      this.inc(slow);
    },
  });
  new Counter({
    name: 'miner_event_stream_failed_reads_total',
    help: 'Reads of missed events from ClickHouse that failed; each is retried.',
    registers: [registry],
    collect() {
      this.reset();
      this.inc(failedReads);
    },
  });
  return {
    slowClient: () => {
      slow++;
    },
    failedRead: () => {
      failedReads++;
    },
  };
}
