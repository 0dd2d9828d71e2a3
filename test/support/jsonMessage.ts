import type { StreamMessage } from '../../actors/messages/streamMessage.ts';

/** A message of a stream with a JSON body. */
export function jsonMessage(subject: string, body: unknown, { seq = 1, storedAtMs = 0 } = {}): StreamMessage {
  const data = Buffer.from(JSON.stringify(body));
  return { seq, subject, data, timestampNanos: BigInt(storedAtMs) * 1_000_000n };
}
