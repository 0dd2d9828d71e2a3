import type { JetStreamManager } from '@nats-io/jetstream';
import { createCounterDecoder } from '../../actors/wheel/decodeCounter.ts';
import type { Database } from '../../storage/database.ts';
import { readNewestReading } from '../../storage/observations.ts';
import { hasOpenRemoval } from '../../storage/removals.ts';
import type { Tables } from '../../storage/tables.ts';

export interface ReadingHistoryOptions {
  readonly database: Database;
  readonly tables: () => Tables;
  readonly jsm: JetStreamManager;
}

/** JetStream can lose a stream's end after rows were stored, and reuse the sequences: the newest row is then of another message. */
export async function isReadingHistoryReplaced({
  database,
  tables,
  jsm,
}: ReadingHistoryOptions): Promise<boolean> {
  if (await hasOpenRemoval(database)) return true;
  const newest = await readNewestReading(database, tables());
  if (newest === null) return false;
  const { position, telemetryId } = newest;
  const { state } = await jsm.streams.info('MINER_COUNTER');
  if (position > state.last_seq) return true;
  const stored =
    position < state.first_seq ? null : await jsm.streams.getMessage('MINER_COUNTER', { seq: position });
  // A message that retention removed, or an operator deleted, cannot be compared.
  if (stored === null) return false;
  const decoded = createCounterDecoder()(stored.subject, stored.data);
  return 'rejection' in decoded || decoded.value.telemetryId !== telemetryId;
}
