import { type Decoded, decodeMessage, defineFormat, reject, toBuffer } from '../messages/decodeMessage.ts';
import { aheadMsMax, findFutureTime } from '../messages/futureTimes.ts';
import type { StreamMessage } from '../messages/streamMessage.ts';
import { counterSubject } from '../messages/subjects.ts';
import { type CounterReading, counterReadingMessage, toCounterReading } from './counterReading.ts';
import { parseUsualReading } from './usualReading.ts';

/** A longer message is malformed (MESSAGES.md, Acceptance of readings). */
export const readingBytesMax = 16 * 1024;

const readingFormat = defineFormat(counterReadingMessage, readingBytesMax);

/**
 * Decodes a message of `MINER_COUNTER` and applies the rules that need no state: `malformed`, `wrong_installation` and
 * `future_observation`. The installation's actor applies the others.
 *
 * @param storedAtMs when the stream stored the message (epoch milliseconds).
 */
export function decodeCounter(
  { subject, data, seq }: Omit<StreamMessage, 'timestampNanos'>,
  storedAtMs: number,
): Decoded<CounterReading> {
  const decoded = decodeReading(data, seq);
  if ('rejection' in decoded) return decoded;
  const reading = decoded.value;
  if (subject !== counterSubject(reading.installationId)) {
    return reject(
      'wrong_installation',
      `subject: expected ${counterSubject(reading.installationId)}, since installationId is ${reading.installationId}, given ${subject}`,
    );
  }
  return findFuture(reading, storedAtMs) ?? decoded;
}

function findFuture({ observedAtMs, receivedAtMs }: CounterReading, storedAtMs: number) {
  // A fast path: nearly all readings take it.
  if (Math.max(observedAtMs, receivedAtMs) <= Math.min(receivedAtMs, storedAtMs) + aheadMsMax) return null;
  const times = { observedAt: observedAtMs, receivedAt: receivedAtMs };
  const received = { name: 'receivedAt', ms: receivedAtMs };
  return (
    findFutureTime(times, received) ?? findFutureTime(times, { name: 'the stream stored it', ms: storedAtMs })
  );
}

/** Decodes the reading of a message, whether or not a rule forbids it. */
export function decodeReading(data: Uint8Array, position: number): Decoded<CounterReading> {
  const usual = data.length <= readingBytesMax ? parseUsualReading(toBuffer(data), position) : null;
  if (usual !== null) return { value: usual };
  const decoded = decodeMessage(readingFormat, data);
  return 'rejection' in decoded ? decoded : { value: toCounterReading(decoded.value, position) };
}
