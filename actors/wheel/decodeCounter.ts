import { isAscii } from 'node:buffer';
import { type Decoded, decodeMessage, defineFormat, reject, toBuffer } from '../messages/decodeMessage.ts';
import { counterSubject } from '../messages/subjects.ts';
import { type CounterReading, counterReadingMessage, toCounterReading } from './counterReading.ts';
import { createReadingParser } from './readingText.ts';

/** A longer message is malformed (MESSAGES.md, Acceptance of readings). */
export const readingBytesMax = 16 * 1024;
/** A reading may claim to be observed at most this long after the gateway received it (MESSAGES.md, Acceptance of readings). */
export const futureObservationMsMax = 300_000;

const readingFormat = defineFormat(counterReadingMessage, readingBytesMax, { isTakenAsIs: true });

/**
 * A message of `MINER_COUNTER` as a reading, tested by the rules that need no memory: `malformed`,
 * `wrong_installation`, `future_observation`. The rules that do are the installation's.
 */
type DecodeCounter = (subject: string, data: Uint8Array) => Decoded<CounterReading>;

/** What it has decoded makes it faster, and changes no outcome. */
export function createCounterDecoder(): DecodeCounter {
  const parser = createReadingParser();

  function decodeReading(data: Uint8Array): Decoded<CounterReading> {
    const ascii = isAscii(data) ? toBuffer(data) : null;
    const reading = ascii === null ? null : parser.parse(ascii);
    if (reading !== null) return { value: reading };
    const decoded = decodeMessage(readingFormat, data);
    if ('rejection' in decoded) return decoded;
    if (ascii !== null) parser.learn(ascii, decoded.value);
    return { value: toCounterReading(decoded.value) };
  }

  return (subject, data) => {
    const decoded = decodeReading(data);
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
  };
}
