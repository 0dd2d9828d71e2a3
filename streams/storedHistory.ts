import type { JetStreamManager, StoredMsg } from '@nats-io/jetstream';
import type { Database } from '../storage/database.ts';
import { hasOpenRemoval } from '../storage/removals.ts';

/** A row, and whether a message of the stream can be the one that it was made from. */
export interface RowOrigin {
  /** The stream sequence of that message. */
  readonly position: number;
  isMessage(stored: StoredMsg): boolean;
}

export interface StoredHistory {
  readonly database: Database;
  readonly jsm: JetStreamManager;
  readonly stream: string;
  /** Of the newest rows. */
  readonly readOrigins: () => Promise<readonly RowOrigin[]>;
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
}: StoredHistory): Promise<boolean> {
  if (await hasOpenRemoval(database)) return true;
  const origins = await readOrigins();
  const { state } = await jsm.streams.info(stream);
  for (const { position, isMessage } of origins) {
    if (position > state.last_seq) return true;
    const stored =
      position < state.first_seq ? null : await jsm.streams.getMessage(stream, { seq: position });
    // A message that retention removed, or an operator deleted, cannot be compared.
    if (stored !== null && !isMessage(stored)) return true;
  }
  return false;
}
