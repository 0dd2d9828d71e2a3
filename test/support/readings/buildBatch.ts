import type { StreamMessage } from '../../../actors/messages/streamMessage.ts';
import type { MessageBatch } from '../../../streams/jetstream/source/messageBatch.ts';

/** Builds a batch of messages as a source emits it. */
export function buildBatch(messages: readonly StreamMessage[], streamCreated = ''): MessageBatch {
  const position = messages.at(-1)?.seq ?? 0;
  return {
    messages,
    stored: [],
    streamCreated,
    position,
    weight: 0,
    streamPosition: () => ({ streamCreated, position, digest: null }),
  };
}
