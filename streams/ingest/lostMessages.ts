import type { JetStreamManager } from '@nats-io/jetstream';
import type { Database } from '../../storage/database.ts';
import { oldestStoredReading } from '../../storage/observations.ts';
import { readRowsGoneBeforeMs } from '../../storage/rowsTtl.ts';
import type { Tables } from '../../storage/tables.ts';
import { verifySource } from '../jetstream/sourceVerification.ts';
import { startOfStream } from '../jetstream/streamPosition.ts';

/** Messages of `MINER_COUNTER` that nothing can be folded from any more. */
export interface LostMessages {
  /** From the first one of the stream through this one. */
  readonly throughSequence: number;
  /** Rows of readings that were received before may have aged (epoch milliseconds). */
  readonly rowsGoneBeforeMs: number;
  /** Receipt of the oldest reading that there is a row of (epoch milliseconds); null without any. */
  readonly oldestReceivedAtMs: number | null;
}

/**
 * Finds messages that are in neither the stream nor the rows of readings; null where there are none. Where no TTL ever was, all readings that were accepted
 * have a row, so what is missing then was rejected, or was never folded.
 */
export async function findLost(
  { database, jsm, nowMs }: { database: Database; jsm: JetStreamManager; nowMs: () => number },
  tables: Tables,
): Promise<LostMessages | null> {
  const rowsGoneBeforeMs = await readRowsGoneBeforeMs(database, tables, nowMs());
  const { firstSequence } = await verifySource(jsm, 'MINER_COUNTER', startOfStream);
  if (rowsGoneBeforeMs === null || firstSequence <= 1) return null;
  const oldest = await oldestStoredReading(database, tables, rowsGoneBeforeMs);
  const throughSequence = Math.min(firstSequence, oldest?.position ?? firstSequence) - 1;
  if (throughSequence < 1) return null;
  return { throughSequence, rowsGoneBeforeMs, oldestReceivedAtMs: oldest?.receivedAtMs ?? null };
}

/** What is lost, with the tables and statistics that miss it, in sentences. */
export function describeLost({
  throughSequence,
  rowsGoneBeforeMs,
  oldestReceivedAtMs,
}: LostMessages): string {
  const since = oldestReceivedAtMs === null ? 'now' : toIsoTime(oldestReceivedAtMs);
  return (
    `Messages 1 to ${throughSequence} have left MINER_COUNTER, and rows of readings received before ${toIsoTime(rowsGoneBeforeMs)} may have left ClickHouse: ` +
    `what was received before ${since} cannot be folded again. Rebuilt readings, rounds, half_hour_buckets and measurement_feed begin there, ` +
    'and so do statistics over the lifetime and the distances, records and streaks of the feed.'
  );
}

function toIsoTime(ms: number): string {
  return new Date(ms).toISOString();
}
