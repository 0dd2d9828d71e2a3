import { Counter, type Registry } from 'prom-client';
import type { InputStreamName } from '../../actors/messages/subjects.ts';
import { deliveryStates } from '../../machines/deliveryMachine.ts';
import type { RecentReadings } from '../../storage/recentReadings.ts';
import type { RejectionLog } from '../pipeline/rejectionLog.ts';
import type { RowWriter } from '../pipeline/rowWriter.ts';
import { registerGauge } from './registerGauge.ts';
import { createStreamMetrics } from './streamMetrics.ts';

interface WriterMetricsOptions {
  readonly writers: ReadonlyMap<InputStreamName, RowWriter>;
  readonly rejections: ReadonlyMap<InputStreamName, RejectionLog>;
  readonly recent: RecentReadings;
}

/** Registers metrics of the row writers and rejection logs, read at each request of `/metrics`. */
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
    'Rows that wait for ClickHouse.',
    (writer) => writer.status().bufferedRows,
  );
  written.gauge(
    'miner_rows_buffered_bytes',
    'Bytes of the rows that wait for ClickHouse.',
    (writer) => writer.status().bufferedBytes,
  );
  rejected.gauge(
    'miner_rejections_waiting',
    'Rejections that wait to be published; rows and snapshots of the stream wait behind them.',
    (log) => log.waiting,
  );
  rejected.counter(
    'miner_rejection_failures_total',
    'Attempts to publish a rejection that failed; each is repeated.',
    (log) => log.failures,
  );
  written.gauge(
    'miner_rows_flushed_position',
    'Position of the stream through which everything is stored.',
    (writer) => writer.storedThrough(),
  );
  written.gauge(
    'miner_row_writer_failing_seconds',
    'For how long ClickHouse has refused rows; 0 while it accepts them.',
    (writer) => (writer.status().failingForMs ?? 0) / 1000,
  );
  written.states(
    {
      name: 'miner_row_writer_state',
      help: 'State of the writer: 1 for the current one.',
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
