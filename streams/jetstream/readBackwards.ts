import type { JetStreamManager, StoredMsg } from '@nats-io/jetstream';
import type { StreamName } from '../../actors/messages/subjects.ts';
import { NotProven } from './proofs/suspicions.ts';

/**
 * Reads a stream's messages of all subjects downwards from a sequence that it has. Each is requested only when the caller asks for it.
 *
 * @throws NotProven if the server has not applied the first of them yet, and would leave it out.
 */
export async function* readBackwards(
  jsm: JetStreamManager,
  stream: StreamName,
  fromSequence: number,
): AsyncGenerator<StoredMsg> {
  const { state } = await jsm.streams.info(stream);
  if (state.last_seq < fromSequence)
    throw new NotProven(`${stream} ends at ${state.last_seq}, although it had message ${fromSequence}`);
  for (let seq = fromSequence; seq >= Math.max(1, state.first_seq); seq--) {
    const stored = await jsm.streams.getMessage(stream, { seq });
    if (stored !== null) yield stored;
  }
}
