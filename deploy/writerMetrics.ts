import { Counter, Gauge, type Registry } from 'prom-client';
import { rowWriterStates } from '../machines/rowWriterMachine.ts';
import type { RecentReadings } from '../storage/recentReadings.ts';
import type { RowWriter } from '../storage/rowWriter.ts';

export interface WriterMetricsParts {
  readonly writer: RowWriter;
  readonly recent: RecentReadings;
}

/** Metrics of the writer of rows, read from its status when `/metrics` is asked. */
export function registerWriterMetrics(registry: Registry, { writer, recent }: WriterMetricsParts): void {
  const registers = [registry];
  new Counter({
    name: 'miner_rows_written_total',
    help: 'Rows that ClickHouse acknowledged, by table.',
    labelNames: ['table'],
    registers,
    collect() {
      this.reset();
      for (const [table, count] of writer.status().writtenRows) this.inc({ table }, count);
    },
  });
  new Counter({
    name: 'miner_row_batches_total',
    help: 'Batches that ClickHouse acknowledged.',
    registers,
    collect() {
      this.reset();
      this.inc(writer.status().batches);
    },
  });
  new Counter({
    name: 'miner_row_write_failures_total',
    help: 'Inserts that failed or whose outcome is unknown; each is sent again.',
    registers,
    collect() {
      this.reset();
      this.inc(writer.status().failures);
    },
  });
  new Gauge({
    name: 'miner_rows_buffered',
    help: 'Rows that wait for ClickHouse.',
    registers,
    collect() {
      this.set(writer.status().bufferedRows);
    },
  });
  new Gauge({
    name: 'miner_rows_flushed_position',
    help: 'Position of MINER_COUNTER through which everything is stored.',
    registers,
    collect() {
      this.set(writer.flushedThrough());
    },
  });
  new Gauge({
    name: 'miner_row_writer_failing_seconds',
    help: 'For how long ClickHouse has not taken rows; 0 while it does.',
    registers,
    collect() {
      this.set((writer.status().failingForMs ?? 0) / 1000);
    },
  });
  new Gauge({
    name: 'miner_row_writer_state',
    help: 'State of the writer: 1 for the one that it is in.',
    labelNames: ['state'],
    registers,
    collect() {
      const { state } = writer.status();
      for (const one of rowWriterStates) this.set({ state: one }, one === state ? 1 : 0);
    },
  });
  new Gauge({
    name: 'miner_recent_readings',
    help: 'Accepted readings that memory holds for the observations route.',
    registers,
    collect() {
      this.set(recent.size);
    },
  });
}
