import type { Database } from '../../storage/clickhouse/database.ts';
import { oldestStoredReading } from '../../storage/reading/observations.ts';
import { readReadingsGoneBeforeMs } from '../../storage/rows/readingsTtl.ts';
import type { LineageRuns } from '../../storage/runs/lineages.ts';
import { readInfo } from '../jetstream/proofs/streamVerifier.ts';
import type { StreamPort } from '../nats/streamPort.ts';

/** Messages of `MINER_COUNTER` that can no longer be folded. */
interface LostMessages {
  /** Messages 1 through this one are lost. */
  readonly throughSequence: number;
  /** Rows of readings received before this time may have expired (epoch milliseconds). */
  readonly readingsGoneBeforeMs: number;
  /** When the oldest reading with a row was received (epoch milliseconds); null if there is no row. */
  readonly oldestReceivedAtMs: number | null;
}

/**
 * Finds messages that are in neither the stream nor the rows of readings; null if nothing is lost. If the tables never had a TTL, each
 * accepted reading still has a row, so a missing message was rejected or never folded.
 */
export async function findLost(
  { database, jetStream, nowMs }: { database: Database; jetStream: StreamPort; nowMs: () => number },
  runs: LineageRuns,
): Promise<LostMessages | null> {
  const readingsGoneBeforeMs = await readReadingsGoneBeforeMs(database, nowMs());
  const { firstSequence } = await readInfo(jetStream, 'MINER_COUNTER');
  if (readingsGoneBeforeMs === null || firstSequence <= 1) return null;
  const oldest = await oldestStoredReading(database, runs, readingsGoneBeforeMs);
  const throughSequence = Math.min(firstSequence, oldest?.position ?? firstSequence) - 1;
  if (throughSequence < 1) return null;
  return { throughSequence, readingsGoneBeforeMs, oldestReceivedAtMs: oldest?.receivedAtMs ?? null };
}

/** Describes the loss in sentences, with the tables and statistics that it affects. */
export function describeLost({
  throughSequence,
  readingsGoneBeforeMs,
  oldestReceivedAtMs,
}: LostMessages): string {
  const beginning = oldestReceivedAtMs === null ? 'now' : new Date(oldestReceivedAtMs).toISOString();
  return (
    `Messages 1 to ${throughSequence} have left MINER_COUNTER, and rows of readings received before ${new Date(readingsGoneBeforeMs).toISOString()} may have left ClickHouse: ` +
    `readings received before ${beginning} cannot be folded again. Rebuilt readings, rounds, half hours and events begin then, ` +
    'and so do lifetime statistics and the distances, records and streaks of the feed.'
  );
}
