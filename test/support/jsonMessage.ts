import type { StreamMessage } from '../../actors/messages/streamMessage.ts';
import { storedLateMs } from './genesis.ts';

/** A message of a stream with a JSON body, stored after everything that it names by default. */
export function jsonMessage(
  subject: string,
  body: unknown,
  { seq = 1, storedAtMs = storedLateMs } = {},
): StreamMessage {
  const data = Buffer.from(JSON.stringify(body));
  return { seq, subject, data, timestampNanos: BigInt(storedAtMs) * 1_000_000n };
}
