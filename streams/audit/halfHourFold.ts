import { idleMsMax } from '../../actors/folds/places.ts';
import { readStoredAtMs } from '../../actors/messages/streamMessage.ts';
import { counterSubject } from '../../actors/messages/subjects.ts';
import type { CounterReading } from '../../actors/wheel/counterReading.ts';
import { decodeCounter } from '../../actors/wheel/decodeCounter.ts';
import { createInstallationActor } from '../../actors/wheel/installationActor.ts';
import { type BucketRow, bucketMs, type RoundRow } from '../../actors/wheel/roundFold.ts';
import { readRange } from '../jetstream/readRange.ts';
import type { JetStream } from '../nats/natsLink.ts';

export interface HalfHour {
  readonly installationId: string;
  /** Epoch milliseconds, a multiple of 1,800,000. */
  readonly startMs: number;
}

/** A half hour, computed from the messages of the stream. */
export interface FoldedHalfHour {
  readonly readings: readonly CounterReading[];
  readonly rounds: readonly RoundRow[];
  readonly bucket: BucketRow;
}

interface FoldHalfHourOptions extends JetStream {
  readonly genesisMs: number;
  readonly halfHour: HalfHour;
  /** First sequence that is read: far enough before the half hour for the fold to know the earlier readings. */
  readonly fromSequence: number;
  /** Whether no earlier reading of the installation was accepted. */
  readonly isBeginning: boolean;
  readonly messagesMax: number;
}

/**
 * Folds the messages of one installation until the half hour is closed.
 *
 * @returns null if this takes too many messages, the stream has lost the beginning, the half hour is still open, or the installation was
 * silent for so long that it may have given its place up.
 */
export async function foldHalfHour(options: FoldHalfHourOptions): Promise<FoldedHalfHour | null> {
  const { genesisMs, halfHour, isBeginning } = options;
  const { installationId, startMs } = halfHour;
  const actor = createInstallationActor(installationId, genesisMs, null);
  const isWithin = (timeMs: number) => timeMs >= startMs && timeMs < startMs + bucketMs;
  const readings: CounterReading[] = [];
  const rounds: RoundRow[] = [];
  let isComplete = isBeginning;
  let heardAtMs: number | null = null;
  const messages = readRange({
    ...options,
    stream: 'MINER_COUNTER',
    subject: counterSubject(installationId),
  });
  for await (const message of messages) {
    const storedAtMs = readStoredAtMs(message);
    const decoded = decodeCounter(message, storedAtMs);
    if (heardAtMs !== null && Math.abs(storedAtMs - heardAtMs) > idleMsMax) return null;
    const outcome = 'rejection' in decoded ? decoded : actor.receive(decoded.value, storedAtMs);
    if ('rejection' in outcome) continue;
    heardAtMs = storedAtMs;
    const { reading, closed } = outcome.output;
    // A reading from before the half hour shows that the stream still holds its beginning.
    isComplete ||= reading.observedAtMs < startMs;
    if (isWithin(reading.observedAtMs)) readings.push(reading);
    if (closed.round !== null && isWithin(closed.round.startMs)) rounds.push(closed.round);
    if (closed.bucket?.startMs === startMs)
      return isComplete ? { readings, rounds, bucket: closed.bucket } : null;
    if (reading.observedAtMs >= startMs + bucketMs) return null;
  }
  return null;
}
