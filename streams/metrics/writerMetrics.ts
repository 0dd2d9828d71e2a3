import { Counter, Gauge, type Registry } from 'prom-client';
import type { InputStreamName } from '../../actors/messages/subjects.ts';
import { deliveryStates } from '../../machines/deliveryMachine.ts';
import type { RecentReadings } from '../../storage/recentReadings.ts';
import type { RejectionLog } from '../pipeline/rejectionLog.ts';
import type { RowWriter } from '../pipeline/rowWriter.ts';

interface WriterMetricsOptions {
  /** By the stream whose rows they write; none on a read replica. */
  readonly writers: ReadonlyMap<InputStreamName, RowWriter>;
  /** By the stream whose rejections they publish; none on a read replica. */
  readonly rejections: ReadonlyMap<InputStreamName, RejectionLog>;
  readonly recent: RecentReadings;
}

interface StreamMetric<One> {
  readonly Kind: typeof Counter | typeof Gauge;
  readonly name: string;
  readonly help: string;
  readonly read: (one: One) => number;
}

/** Metrics of the row writers and rejection logs, read from their status on each request of `/metrics`. */
export function registerWriterMetrics(
  registry: Registry,
  { writers, rejections, recent }: WriterMetricsOptions,
): void {
  const registers = [registry];

  /** Registers a metric that has a value for each stream. */
  function register<One>(
    ones: ReadonlyMap<InputStreamName, One>,
    { Kind, read, ...about }: StreamMetric<One>,
  ) {
    new Kind({
      ...about,
      labelNames: ['stream'],
      registers,
      collect() {
        this.reset();
        for (const [stream, one] of ones) this.inc({ stream }, read(one));
      },
    });
  }

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
  register(writers, {
    Kind: Counter,
    name: 'miner_row_batches_total',
    help: 'Batches that ClickHouse acknowledged.',
    read: (writer) => writer.status().batches,
  });
  register(writers, {
    Kind: Counter,
    name: 'miner_row_write_failures_total',
    help: 'Inserts that failed or whose outcome is unknown; each is sent again.',
    read: (writer) => writer.status().failures,
  });
  register(writers, {
    Kind: Gauge,
    name: 'miner_rows_buffered',
    help: 'Rows that wait for ClickHouse.',
    read: (writer) => writer.status().bufferedRows,
  });
  register(writers, {
    Kind: Gauge,
    name: 'miner_rows_buffered_bytes',
    help: 'Bytes of the rows that wait for ClickHouse.',
    read: (writer) => writer.status().bufferedBytes,
  });
  register(rejections, {
    Kind: Gauge,
    name: 'miner_rejections_waiting',
    help: 'Rejections that wait to be published; rows and snapshots of the stream wait behind them.',
    read: (log) => log.waiting,
  });
  register(rejections, {
    Kind: Counter,
    name: 'miner_rejection_failures_total',
    help: 'Attempts to publish a rejection that failed; each is repeated.',
    read: (log) => log.failures,
  });
  register(writers, {
    Kind: Gauge,
    name: 'miner_rows_flushed_position',
    help: 'Position of the stream through which everything is stored.',
    read: (writer) => writer.storedThrough(),
  });
  register(writers, {
    Kind: Gauge,
    name: 'miner_row_writer_failing_seconds',
    help: 'For how long ClickHouse has refused rows; 0 while it accepts them.',
    read: (writer) => (writer.status().failingForMs ?? 0) / 1000,
  });
  new Gauge({
    name: 'miner_row_writer_state',
    help: 'State of the writer: 1 for the current one.',
    labelNames: ['stream', 'state'],
    registers,
    collect() {
      for (const [stream, writer] of writers) {
        const { state } = writer.status();
        for (const one of deliveryStates) this.set({ stream, state: one }, one === state ? 1 : 0);
      }
    },
  });
  new Gauge({
    name: 'miner_recent_readings',
    help: 'Accepted readings in memory for the observations route.',
    registers,
    collect() {
      this.set(recent.size);
    },
  });
}
