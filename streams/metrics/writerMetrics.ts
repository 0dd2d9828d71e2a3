import type { Registry } from 'prom-client';
import type { InputStreamName } from '../../actors/messages/subjects.ts';
import { registerMetrics } from '../../actors/registerMetrics.ts';
import type { RecentReadings } from '../../storage/reading/recentReadings.ts';
import type { RejectionLog } from '../pipeline/rejectionLog.ts';
import type { RowWriter } from '../pipeline/rowWriter.ts';
import { registerStreamMetrics } from './streamMetrics.ts';

interface WriterMetricsOptions {
  readonly writers: ReadonlyMap<InputStreamName, RowWriter>;
  readonly rejections: ReadonlyMap<InputStreamName, RejectionLog>;
  readonly recent: RecentReadings;
}

/** Registers metrics of the row writers, the rejection logs and the readings in memory. */
export function registerWriterMetrics(
  registry: Registry,
  { writers, rejections, recent }: WriterMetricsOptions,
): void {
  registerMetrics(registry, {
    miner_rows_written_total: [
      'Rows that ClickHouse acknowledged, by table.',
      () =>
        [...writers.values()].flatMap((writer) =>
          Array.from(writer.status().writtenRows, ([table, count]) => [count, table] as const),
        ),
      'table',
    ],
    miner_recent_readings: ['Accepted readings in memory for the observations route.', () => recent.size],
  });
  registerStreamMetrics(registry, () => writers, {
    miner_rows_buffered_bytes: [
      'Bytes of rows waiting to be written to ClickHouse.',
      (writer) => writer.status().bufferedBytes,
    ],
    miner_rows_flushed_position: [
      'Stream position through which all rows are stored.',
      (writer) => writer.storedThrough(),
    ],
    miner_row_writer_failing_seconds: [
      'Seconds since rows could not be stored, since ClickHouse refused them or NATS was away; 0 while they are stored.',
      (writer) => (writer.status().failingForMs ?? 0) / 1000,
    ],
  });
  registerStreamMetrics(registry, () => rejections, {
    miner_rejections_waiting: [
      'Rejections waiting to be published. Later rows and snapshots wait too.',
      ({ waiting }) => waiting,
    ],
  });
}
