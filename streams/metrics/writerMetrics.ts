import { Counter, type Registry } from 'prom-client';
import type { InputStreamName } from '../../actors/messages/subjects.ts';
import { deliveryStates } from '../../machines/deliveryMachine.ts';
import type { RecentReadings } from '../../storage/reading/recentReadings.ts';
import type { RejectionLog } from '../pipeline/rejectionLog.ts';
import type { RowWriter } from '../pipeline/rowWriter.ts';
import { registerGauge } from './registerGauge.ts';
import { createStreamMetrics } from './streamMetrics.ts';

interface WriterMetricsOptions {
  readonly writers: ReadonlyMap<InputStreamName, RowWriter>;
  readonly rejections: ReadonlyMap<InputStreamName, RejectionLog>;
  readonly recent: RecentReadings;
}

/** Registers metrics of the row writers, the rejection logs and the readings in memory, read at each request of `/metrics`. */
export function registerWriterMetrics(
  registry: Registry,
  { writers, rejections, recent }: WriterMetricsOptions,
): void {
  const registers = [registry];

  const written = createStreamMetrics(registry, () => writers);
  const rejected = createStreamMetrics(registry, () => rejections);

  new Counter({
    name: 'miner_rows_written_total',
    help: 'Rows that ClickHouse acknowledged, by table.',
    labelNames: ['table'],
    registers,
    collect() {
      this.reset();
      for (const writer of writers.values())
        for (const [table, count] of writer.status().writtenRows) this.inc({ table }, count);
    },
  });
  written.counter(
    'miner_row_batches_total',
    'Batches that ClickHouse acknowledged.',
    (writer) => writer.status().batches,
  );
  written.counter(
    'miner_row_write_failures_total',
    'Inserts that failed or whose outcome is unknown; each is sent again.',
    (writer) => writer.status().failures,
  );
  written.gauge(
    'miner_rows_buffered',
    'Rows waiting to be written to ClickHouse.',
    (writer) => writer.status().bufferedRows,
  );
  written.gauge(
    'miner_rows_buffered_bytes',
    'Bytes of rows waiting to be written to ClickHouse.',
    (writer) => writer.status().bufferedBytes,
  );
  rejected.gauge(
    'miner_rejections_waiting',
    'Rejections waiting to be published. Later rows and snapshots wait too.',
    (log) => log.waiting,
  );
  rejected.counter(
    'miner_rejection_failures_total',
    'Failed attempts to publish a rejection; each is retried.',
    (log) => log.failures,
  );
  written.gauge(
    'miner_rows_flushed_position',
    'Stream position through which all rows are stored.',
    (writer) => writer.storedThrough(),
  );
  written.gauge(
    'miner_row_writer_failing_seconds',
    'Seconds since rows could not be stored, since ClickHouse refused them or NATS was away; 0 while they are stored.',
    (writer) => (writer.status().failingForMs ?? 0) / 1000,
  );
  written.states(
    {
      name: 'miner_row_writer_state',
      help: 'State of the row writer: 1 for the current state.',
      states: deliveryStates,
    },
    (writer) => writer.status().state,
  );
  registerGauge(
    registry,
    { name: 'miner_recent_readings', help: 'Accepted readings in memory for the observations route.' },
    () => recent.size,
  );
}
