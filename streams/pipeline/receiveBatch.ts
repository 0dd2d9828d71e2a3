import type { FoldedMessage } from '../../actors/folds/foldedMessage.ts';
import type { Outcome } from '../../actors/messages/decodeMessage.ts';
import { readStoredAtMs, type StreamMessage } from '../../actors/messages/streamMessage.ts';
import type { InputStreamName } from '../../actors/messages/subjects.ts';
import type { MessageBatch } from '../jetstream/source/messageBatch.ts';
import type { MessageCounts } from './messageCounts.ts';
import type { RejectedMessage } from './pipelineItem.ts';

interface ReceiveBatchOptions<Output> {
  readonly stream: InputStreamName;
  readonly batch: { readonly messages: readonly StreamMessage[]; readonly streamCreated: string };
  readonly counts: MessageCounts;
  readonly receive: (message: StreamMessage) => Outcome<Output>;
  readonly collect?: (output: Output, message: StreamMessage) => void;
}

/**
 * Passes the messages of a batch to their actors, one after another, and counts the outcomes.
 *
 * @returns the rejected messages.
 */
export function receiveBatch<Output>(options: ReceiveBatchOptions<Output>): readonly RejectedMessage[] {
  const { stream, batch, counts, receive, collect } = options;
  const { messages, streamCreated } = batch;
  const rejections: RejectedMessage[] = [];
  let accepted = 0;
  try {
    for (const message of messages) {
      const outcome = receive(message);
      if (outcome === 'unread') counts.unread(stream);
      else if ('rejection' in outcome) {
        const { reason, detail } = outcome.rejection;
        counts.rejected(stream, reason);
        const { seq: sequence, timestampNanos: storedAtNanos, subject, data, headers } = message;
        const messageId = headers?.get('Nats-Msg-Id') || null;
        rejections.push({ streamCreated, sequence, storedAtNanos, subject, messageId, data, reason, detail });
      } else {
        accepted++;
        collect?.(outcome.output, message);
      }
    }
  } finally {
    counts.accepted(stream, accepted);
  }
  return rejections;
}

/** The message that a fold has come to with a batch. */
export function findLastMessage({ messages, streamCreated, position }: MessageBatch): FoldedMessage {
  const last = messages.at(-1);
  const storedAtMs = last === undefined ? 0 : readStoredAtMs(last);
  return { streamCreatedMs: Date.parse(streamCreated), position, storedAtMs };
}
