import type { JetStreamManager, StoredMsg } from '@nats-io/jetstream';
import type { StreamName } from '../../actors/messages/subjects.ts';

/** The messages that a stream holds from a sequence down, the newest first, of all subjects. Each is requested when it is asked for. */
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
