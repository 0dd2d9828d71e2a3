import type { CounterReading } from '../../../actors/wheel/counterReading.ts';
import type { ErrorKind } from '../../../machines/failures.ts';
import type { Delivery } from '../../nats/streamPort.ts';
import { missingDigest, type StreamPosition } from '../proofs/streamPosition.ts';
import { hasAll } from '../proofs/streamVerifier.ts';
import { askUntilProven } from '../proofs/suspicions.ts';
import type { StreamReaderOptions } from '../streamReaderOptions.ts';
import { type BatchRecipient, messageOverheadBytes } from './messageBatch.ts';
import type { SourceProgress } from './sourceProgress.ts';

/** Messages are missing, and the stream does not explain why. */
class UnexplainedGap extends Error {
  override readonly name = 'UnexplainedGap';
  readonly kind: ErrorKind = 'gap';
}

/** Reads the stored readings of messages that have left the stream, after one sequence through another. */
export type ReadStored = (after: number, through: number) => AsyncIterable<readonly CounterReading[]>;

export interface MissingMessagesOptions extends Pick<StreamReaderOptions, 'stream' | 'verifier' | 'logger'> {
  /** Omitted for a stream without stored readings. */
  readonly readStored?: ReadStored | undefined;
  readonly progress: SourceProgress;
  readonly recipient: BatchRecipient;
}

const missedText =
  'messages are no longer in the stream (retention, a purge or a deletion); those without a stored reading remain unknown';

export type MissingMessages = ReturnType<typeof createMissingMessages>;

/** Handles messages that are no longer in the stream, for one consumer: the next one proves deletions again. */
export function createMissingMessages(options: MissingMessagesOptions) {
  const { stream, verifier, logger, readStored, progress, recipient } = options;
  const { gate, signal } = recipient;
  /** Sequences that are proven to be deleted. */
  let deleted: ReadonlySet<number> = new Set();

  /**
   * Skips messages that retention, a purge or a deletion removed, and returns the stream position after them. Stored readings replace those that were not
   * deleted singly; the rest stays unknown and is logged.
   */
  async function skipRemoved(
    from: StreamPosition,
    through: number,
    { isDeleted } = { isDeleted: false },
  ): Promise<StreamPosition> {
    const streamCreated = from.streamCreated ?? '';
    const createMissingPosition = (position: number) => ({
      streamCreated: from.streamCreated,
      position,
      digest: missingDigest,
    });
    const emitThrough = (position: number, stored: readonly CounterReading[]) =>
      recipient.emit({
        messages: [],
        stored,
        streamCreated,
        position,
        weight: stored.length * messageOverheadBytes,
        streamPosition: () => createMissingPosition(position),
      });
    let storedCount = 0;
    const storedReadings = isDeleted ? undefined : readStored?.(from.position, through);
    for await (const stored of storedReadings ?? []) {
      const last = stored.at(-1);
      if (last === undefined) continue;
      if (!gate.isOpen) await gate.opened(signal);
      if (signal.aborted) return createMissingPosition(progress.counts.position);
      storedCount += stored.length;
      emitThrough(last.position, stored);
    }
    if (signal.aborted) return createMissingPosition(progress.counts.position);
    const missed = through - from.position - storedCount;
    progress.addMissed(missed);
    const range = { stream, fromSequence: from.position + 1, toSequence: through };
    logger.warn({ ...range, missed, storedReadings: storedCount }, missedText);
    emitThrough(through, []);
    return createMissingPosition(through);
  }

  /** Passes the gap before a message that arrived too early, if everything in it is known to be deleted. */
  function passDeleted(expected: number, received: number): boolean {
    const range = { fromSequence: expected, toSequence: received - 1 };
    if (received < expected || !hasAll(deleted, range)) return false;
    progress.addMissed(received - expected);
    return true;
  }

  /**
   * Skips the gap before a message that arrived too early, if the stream explains it. While the explanation is not proven, the stream is asked
   * again until the delivery ends.
   *
   * @throws UnexplainedGap, or NotProven
   */
  async function skipGap(
    from: StreamPosition,
    expected: number,
    received: number,
    delivery: Pick<Delivery, 'reason'>,
  ): Promise<StreamPosition> {
    const range = { fromSequence: expected, toSequence: received - 1 };
    const explain = () => verifier.explainGap(range);
    const isDelivering = () => delivery.reason() === null;
    const explanation = received > expected ? await askUntilProven(explain, isDelivering) : null;
    if (explanation === null) {
      throw new UnexplainedGap(
        `${stream}: message ${expected} was expected and ${received} arrived, and the stream has no explanation`,
      );
    }
    if (explanation === 'removed') return skipRemoved(from, received - 1);
    deleted = explanation;
    passDeleted(expected, received);
    const ahead = [...deleted].filter((sequence) => sequence >= expected);
    const toSequence = ahead.at(-1);
    logger.warn({ stream, fromSequence: expected, toSequence, missed: ahead.length }, missedText);
    return from;
  }

  return { skipRemoved, passDeleted, skipGap };
}
