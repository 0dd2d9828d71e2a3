import { type Decoded, decodeMessage, defineFormat, reject, toBuffer } from '../messages/decodeMessage.ts';
import { aheadMsMax, findFutureTime } from '../messages/futureTimes.ts';
import type { StreamMessage } from '../messages/streamMessage.ts';
import { counterSubject } from '../messages/subjects.ts';
import { dayMs, describeDuration, describeTime } from '../schemas/durations.ts';
import { type CounterReading, counterReadingMessage, toCounterReading } from './counterReading.ts';
import { findDayStart } from './dayHistory.ts';
import { parseUsualReading } from './usualReading.ts';

/** A longer message is malformed (MESSAGES.md, Acceptance of readings). */
export const readingBytesMax = 16 * 1024;

const readingFormat = defineFormat(counterReadingMessage, readingBytesMax);

/** Days before round 1 in which a reading may have been observed. A clock that was never set names an earlier time. */
const daysBeforeGenesisMax = 366;
/** Time by which the distance of a day may exceed its bound: the device and the gateway may begin the day at different moments. */
const distanceSlackMs = 120_000;

/** The bounds of a deployment for its readings. */
export interface ReadingBounds {
  /** Start of round 1 (epoch milliseconds). */
  readonly genesisMs: number;
  /** Omitted if any speed and distance is possible. */
  readonly maximumSpeedMmPerSecond?: number | undefined;
}

/**
 * Decodes a message of `MINER_COUNTER` and applies the rules that need no state: `malformed`, `wrong_installation`,
 * `future_observation`, `past_observation` and `implausible`. The installation's actor applies the others.
 *
 * @param storedAtMs when the stream stored the message (epoch milliseconds).
 */
export function decodeCounter(
  { subject, data, seq }: Omit<StreamMessage, 'timestampNanos'>,
  storedAtMs: number,
  bounds: ReadingBounds,
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
  return findFuture(reading, storedAtMs) ?? findImpossible(reading, bounds) ?? decoded;
}

/** Rejects a reading outside the bounds of the deployment; null for any other. */
export function findImpossible(
  { observedAtMs, speedMmPerSecond, distanceMm }: CounterReading,
  { genesisMs, maximumSpeedMmPerSecond: speedMax }: ReadingBounds,
) {
  if (observedAtMs < genesisMs - daysBeforeGenesisMax * dayMs) {
    return reject(
      'past_observation',
      `observedAt: expected at most ${daysBeforeGenesisMax} days before round 1 (${describeTime(genesisMs)}), given ${describeTime(observedAtMs)}: was the clock set?`,
    );
  }
  if (speedMax === undefined) return null;
  if (speedMmPerSecond > speedMax) {
    return reject(
      'implausible',
      `speedMmPerSecond: expected at most ${speedMax}, the maximum of the deployment, given ${speedMmPerSecond}`,
    );
  }
  const runningMs = observedAtMs - findDayStart(observedAtMs) + distanceSlackMs;
  const distanceMax = Math.floor((speedMax * runningMs) / 1000);
  if (distanceMm <= distanceMax) return null;
  return reject(
    'implausible',
    `distanceMm: expected at most ${distanceMax}, the way since noon and for ${describeDuration(distanceSlackMs)} more at ${speedMax} mm/s, given ${distanceMm}`,
  );
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
