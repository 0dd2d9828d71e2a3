import { type KeyedEventRow, toMeasurementRow } from '../../actors/feed/eventRows.ts';
import type { CounterOutput } from '../../actors/wheel/counterActors.ts';
import type { CounterReading } from '../../actors/wheel/counterReading.ts';
import type { BucketRow, RoundRow } from '../../actors/wheel/roundFold.ts';
import { noRows, type StoredRows } from '../../storage/tables/storedRows.ts';

/** Rows for ClickHouse from the messages of one batch of `MINER_COUNTER`. */
interface CollectedRows extends Omit<StoredRows, 'throughPosition'> {
  add(output: CounterOutput): void;
}

export function collectRows(): CollectedRows {
  const readings: CounterReading[] = [];
  const rounds: RoundRow[] = [];
  const buckets: BucketRow[] = [];
  const measurementEvents: KeyedEventRow[] = [];
  return {
    ...noRows,
    readings,
    rounds,
    buckets,
    measurementEvents,
    add: ({ reading, closed, evicted, left }) => {
      readings.push(reading);
      if (closed.round !== null) rounds.push(closed.round);
      if (closed.bucket !== null) buckets.push(closed.bucket);
      if (left !== undefined) buckets.push(...left);
      for (const event of evicted ?? [])
        measurementEvents.push(toMeasurementRow(event, { storedBy: reading.position }));
    },
  };
}
