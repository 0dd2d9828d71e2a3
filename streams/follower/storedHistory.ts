import type { JetStreamManager, StoredMsg } from '@nats-io/jetstream';
import type { Database } from '../../storage/database.ts';
import { hasOpenRemoval } from '../../storage/removals.ts';

/** The message that a row came from, and the test that recognizes it. */
export interface RowOrigin {
  readonly position: number;
  isMessage(stored: StoredMsg): boolean;
}

interface StoredHistory {
  readonly database: Database;
  readonly jsm: JetStreamManager;
  readonly stream: string;
  readonly readOrigins: () => Promise<readonly RowOrigin[]>;
  /** Position of the restored state, which holds no message that the stream has lost; 0 without any. */
  readonly foldedThrough: number;
}

/**
 * Whether the newest rows are of messages that the stream has lost. JetStream can lose a stream's end after rows were stored, and reuse
 * the sequences. A snapshot from before the lost messages does not show this.
 */
export async function isHistoryReplaced({
  database,
  jsm,
  stream,
  readOrigins,
  foldedThrough,
}: StoredHistory): Promise<boolean> {
  if (await hasOpenRemoval(database)) return true;
  for (const { position, isMessage } of await readOrigins()) {
    // Requested before the info: a message that retention removes in between is then below the first sequence.
    const stored = await jsm.streams.getMessage(stream, { seq: position });
    const { state } = await jsm.streams.info(stream);
    if (position > state.last_seq) return true;
    if (position < state.first_seq) continue;
    // Another message may have taken this sequence, and have been deleted since.
    if (stored === null ? position > foldedThrough : !isMessage(stored)) return true;
  }
  return false;
}
