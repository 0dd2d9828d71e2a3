import type { MeasurementEventRow } from '../../actors/feed/eventRows.ts';
import { toMeasurementRow } from '../../actors/feed/eventRows.ts';
import type { CounterOutput } from '../../actors/wheel/counterActors.ts';
import type { CounterReading } from '../../actors/wheel/counterReading.ts';
import type { EvictedMeasurements } from '../../actors/wheel/publicState.ts';
import type { BucketRow, RoundRow } from '../../actors/wheel/roundFold.ts';
import { noRows, type StoredRows } from '../../storage/storedRows.ts';

/** Rows for ClickHouse from the messages of one batch of `MINER_COUNTER`. */
interface CollectedRows extends Omit<StoredRows, 'throughPosition'> {
  add(output: CounterOutput): void;
}

export function collectRows(): CollectedRows {
  const readings: CounterReading[] = [];
  const rounds: RoundRow[] = [];
  const buckets: BucketRow[] = [];
  const measurementEvents: MeasurementEventRow[] = [];
  const addEvicted = ({ run, events }: EvictedMeasurements) => {
    for (const event of events) measurementEvents.push(toMeasurementRow(event, run));
  };
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
      if (evicted !== undefined) addEvicted(evicted);
    },
  };
}
