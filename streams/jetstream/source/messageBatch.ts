import type { StreamMessage } from '../../../actors/messages/streamMessage.ts';
import type { CounterReading } from '../../../actors/wheel/counterReading.ts';
import type { Gate } from '../../operators/gate.ts';
import type { StreamPosition } from '../proofs/streamPosition.ts';

/**
 * The largest batch in messages and bytes, except for a single larger message. The event loop turns between two batches, so a request
 * waits for at most one of them. The most expensive message of this size takes about ten milliseconds.
 */
export const batchMessagesMax = 512;
export const batchBytesMax = 256 * 1024;
/** Bytes that a message takes in the pipeline in addition to its own, for its rows or rejection; a stored reading takes the same. */
export const messageOverheadBytes = 400;

export interface MessageBatch {
  /** Empty if everything through `position` has left the stream. */
  readonly messages: readonly StreamMessage[];
  /** Readings in place of messages that have left the stream, in order of position. */
  readonly stored: readonly CounterReading[];
  readonly streamCreated: string;
  /** Sequence through which everything has been emitted. */
  readonly position: number;
  readonly weight: number;
  /** The stream position after the last message of this batch. */
  streamPosition(): StreamPosition;
}

/** Receives the batches of one subscription to a stream. */
export interface BatchRecipient {
  readonly gate: Gate;
  readonly signal: AbortSignal;
  emit(batch: MessageBatch): void;
}
