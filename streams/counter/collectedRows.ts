import { toMeasurementRow } from '../../actors/feed/eventRows.ts';
import {
  type BucketRow,
  type EventRow,
  noRows,
  type RoundRow,
  type StoredRows,
} from '../../actors/storedRows.ts';
import type { AcceptedReading } from '../../actors/wheel/acceptedReading.ts';
import type { CounterOutput } from '../../actors/wheel/counterActors.ts';

/** Rows for ClickHouse from the messages of one batch of `MINER_COUNTER`. */
export interface CollectedRows extends Omit<StoredRows, 'throughPosition'> {
  add(output: CounterOutput): void;
}

export function collectRows(): CollectedRows {
  const readings: AcceptedReading[] = [];
  const rounds: RoundRow[] = [];
  const buckets: BucketRow[] = [];
  const measurementEvents: EventRow[] = [];
  return {
    ...noRows,
    readings,
    rounds,
    buckets,
    measurementEvents,
    add: ({ reading, closed, evicted }) => {
      readings.push(reading);
      if (closed.round !== null) rounds.push(closed.round);
      if (closed.bucket !== null) buckets.push(closed.bucket);
      if (evicted === undefined) return;
      for (const event of evicted.events) measurementEvents.push(toMeasurementRow(event, evicted.run));
    },
  };
}
