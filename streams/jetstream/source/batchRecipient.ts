import type { Gate } from '../../operators/gate.ts';
import type { MessageBatch } from './messageBatch.ts';

/** Receives the batches of one subscription to a stream. */
export interface BatchRecipient {
  readonly gate: Gate;
  readonly signal: AbortSignal;
  emit(batch: MessageBatch): void;
}
