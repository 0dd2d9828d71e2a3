import type { ReadingOutcome } from '../actors/installationActor.ts';
import type { BucketRow, RoundRow, StoredRows } from '../actors/storedRows.ts';
import type { AcceptedReading } from '../actors/views.ts';

type Accepted = Exclude<ReadingOutcome, { readonly rejection: unknown }>;

/** What the messages of a batch make for ClickHouse. */
export interface CollectedRows extends Omit<StoredRows, 'throughPosition'> {
  add(outcome: Accepted): void;
}

export function collectRows(): CollectedRows {
  const readings: AcceptedReading[] = [];
  const rounds: RoundRow[] = [];
  const buckets: BucketRow[] = [];
  return {
    readings,
    rounds,
    buckets,
    add: ({ reading, closed }) => {
      readings.push(reading);
      if (closed.round !== null) rounds.push(closed.round);
      if (closed.bucket !== null) buckets.push(closed.bucket);
    },
  };
}
