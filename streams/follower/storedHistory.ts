import type { StoredMsg } from '@nats-io/jetstream';
import type { Database } from '../../storage/database.ts';
import { hasOpenRemoval } from '../../storage/removals.ts';
import type { StreamVerifier } from '../jetstream/sourceVerification.ts';

/** The message that a row came from, and the test that recognizes it. */
export interface RowOrigin {
  readonly position: number;
  isMessage(stored: StoredMsg): boolean;
}

interface StoredHistory {
  readonly database: Database;
  readonly stream: string;
  readonly verifier: StreamVerifier;
  readonly readOrigins: () => Promise<readonly RowOrigin[]>;
  /** Position of the restored state, which holds no message that the stream has lost; 0 without any. */
  readonly foldedThrough: number;
}

/**
 * Whether the newest rows are of messages that the stream has lost. JetStream can lose a stream's end after rows were stored, and reuse
 * the sequences. A snapshot from before the lost messages does not show this.
 *
 * @throws NotProven while the stream may have the messages after all.
 */
export async function isHistoryReplaced({
  database,
  stream,
  verifier,
  readOrigins,
  foldedThrough,
}: StoredHistory): Promise<boolean> {
  if (await hasOpenRemoval(database)) return true;
  for (const { position, isMessage } of await readOrigins()) {
    const answer = await verifier.askForMessage(position);
    const { stored } = answer;
    const { first_seq: first, last_seq: last } = answer.info.state;
    if (position < first) continue;
    // Another message may have taken this sequence, and have been deleted since.
    const isConfirmed = position > last || (stored === null ? position > foldedThrough : !isMessage(stored));
    const claim = `${stream} no longer has message ${position} whose rows are stored`;
    if (verifier.isProven(answer, { claim, isConfirmed })) return true;
  }
  return false;
}
