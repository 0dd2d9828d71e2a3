import type { StreamMessage } from '../../../actors/messages/streamMessage.ts';
import type { CounterReading } from '../../../actors/wheel/counterReading.ts';
import type { StreamPosition } from '../streamPosition.ts';

/**
 * The largest batch, in messages and bytes, a single larger message aside. The event loop turns between two batches, so requests wait for one of them: a
 * message of so many bytes that is as expensive to read as it can be takes about ten milliseconds.
 */
export const batchMessagesMax = 512;
export const batchBytesMax = 256 * 1024;
/** What a message costs in addition to its bytes while it is in the pipeline, as rows or a rejection; a stored reading costs the same. */
export const messageOverheadBytes = 400;

/** Consecutive messages of a stream. */
export interface MessageBatch {
  /** Empty if everything through `position` has left the stream. */
  readonly messages: readonly StreamMessage[];
  /** Readings whose messages have left the stream, in order of position; they replace the messages. */
  readonly stored: readonly CounterReading[];
  readonly streamCreated: string;
  /** Sequence through which everything has been emitted. */
  readonly position: number;
  readonly weight: number;
  /** The place after the last message of this batch. */
  place(): StreamPosition;
}
