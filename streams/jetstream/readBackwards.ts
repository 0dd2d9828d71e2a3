import type { JetStreamManager, StoredMsg } from '@nats-io/jetstream';
import type { StreamName } from '../../actors/messages/subjects.ts';

/** Reads a stream's messages of all subjects downwards from a sequence. Each is requested only when the caller asks for it. */
export async function* readBackwards(
  jsm: JetStreamManager,
  stream: StreamName,
  fromSequence: number,
): AsyncGenerator<StoredMsg> {
  const { state } = await jsm.streams.info(stream);
  for (let seq = fromSequence; seq >= Math.max(1, state.first_seq); seq--) {
    const stored = await jsm.streams.getMessage(stream, { seq });
    if (stored !== null) yield stored;
  }
}
