import { Counter, Gauge, type Registry } from 'prom-client';

/** Counters of what happens to clients of the event stream. */
export function createEventStreamMetrics(registry: Registry, countClients: () => number) {
  const registers = [registry];
  new Gauge({
    name: 'miner_event_stream_clients',
    help: 'Clients that listen to the event stream.',
    registers,
    collect() {
      this.set(countClients());
    },
  });
  const slow = new Counter({
    name: 'miner_event_stream_slow_clients_total',
    help: 'Event streams ended because the client did not read.',
    registers,
  });
  const failedReads = new Counter({
    name: 'miner_event_stream_failed_reads_total',
    help: 'Reads of missed events from ClickHouse that failed; each is retried.',
    registers,
  });
  return { slowClient: () => slow.inc(), failedRead: () => failedReads.inc() };
}
