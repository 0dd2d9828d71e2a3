import type { JetStreamManager, StoredMsg } from '@nats-io/jetstream';
import type { Database } from '../../storage/database.ts';
import { hasOpenRemoval } from '../../storage/removals.ts';

/** A row, and whether a message of the stream can be the one that stored it. */
export interface RowOrigin {
  /** The stream sequence of that message. */
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
 * Whether the newest rows are of messages that the stream has lost: JetStream can lose a stream's end after rows were stored, and reuse the
 * sequences. No snapshot shows it where the one that is restored lies before what was lost.
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
    // Requested first: what retention removes in between then lies below the stream's first sequence.
    const stored = await jsm.streams.getMessage(stream, { seq: position });
    const { state } = await jsm.streams.info(stream);
    if (position > state.last_seq) return true;
    if (position < state.first_seq) continue;
    // Another message may have taken the place of the one that was stored, and been deleted.
    if (stored === null ? position > foldedThrough : !isMessage(stored)) return true;
  }
  return false;
}
