import type { StreamMessage } from '../../actors/messages/streamMessage.ts';
import type { StreamName } from '../../actors/messages/subjects.ts';
import type { StreamPort } from '../nats/streamPort.ts';
import { NotProven } from './proofs/suspicions.ts';

/**
 * Reads a stream's messages of all subjects downwards from a sequence that it has. Each is requested only when the caller asks for it.
 *
 * @throws NotProven if the server has not applied the first of them yet, and would leave it out.
 */
export async function* readBackwards(
  jetStream: Pick<StreamPort, 'info' | 'message'>,
  stream: StreamName,
  fromSequence: number,
): AsyncGenerator<StreamMessage> {
  const { firstSequence, lastSequence } = await jetStream.info(stream);
  if (lastSequence < fromSequence)
    throw new NotProven(`${stream} ends at ${lastSequence}, although it had message ${fromSequence}`);
  for (let seq = fromSequence; seq >= Math.max(1, firstSequence); seq--) {
    const stored = await jetStream.message(stream, seq);
    if (stored !== null) yield stored;
  }
}
