import { type Decoded, decodeMessage, defineFormat, reject, toBuffer } from '../messages/decodeMessage.ts';
import type { StreamMessage } from '../messages/streamMessage.ts';
import { counterSubject } from '../messages/subjects.ts';
import { type CounterReading, counterReadingMessage, toCounterReading } from './counterReading.ts';
import { parseUsualReading } from './usualReading.ts';

/** A longer message is malformed (MESSAGES.md, Acceptance of readings). */
export const readingBytesMax = 16 * 1024;
/** A reading may claim to be observed at most this long after the gateway received it (MESSAGES.md, Acceptance of readings). */
export const futureObservationMsMax = 300_000;

const readingFormat = defineFormat(counterReadingMessage, readingBytesMax, { isTakenAsIs: true });

/**
 * Decodes a message of `MINER_COUNTER` and applies the rules that need no state: `malformed`, `wrong_installation` and
 * `future_observation`. The installation's actor applies the others.
 */
export function decodeCounter({
  subject,
  data,
  seq,
}: Omit<StreamMessage, 'timestampNanos'>): Decoded<CounterReading> {
  const decoded = decodeReading(data, seq);
  if ('rejection' in decoded) return decoded;
  const reading = decoded.value;
  if (subject !== counterSubject(reading.installationId)) {
    return reject(
      'wrong_installation',
      `installationId ${reading.installationId} belongs on ${counterSubject(reading.installationId)}, given on ${subject}`,
    );
  }
  const aheadMs = reading.observedAtMs - reading.receivedAtMs;
  if (aheadMs > futureObservationMsMax) {
    return reject(
      'future_observation',
      `observedAt is ${aheadMs} ms after receivedAt, at most ${futureObservationMsMax} ms are accepted`,
    );
  }
  return decoded;
}

function decodeReading(data: Uint8Array, position: number): Decoded<CounterReading> {
  const usual = data.length <= readingBytesMax ? parseUsualReading(toBuffer(data), position) : null;
  if (usual !== null) return { value: usual };
  const decoded = decodeMessage(readingFormat, data);
  return 'rejection' in decoded ? decoded : { value: toCounterReading(decoded.value, position) };
}
