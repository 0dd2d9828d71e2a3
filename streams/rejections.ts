import type { Rejection } from '../actors/messages/decodeMessage.ts';
import type { StreamMessage } from '../actors/messages/streamMessage.ts';
import type { InputStreamName } from '../actors/messages/subjects.ts';
import type { MessageCounts } from './messageCounts.ts';
import type { RejectedMessage } from './rejectedMessage.ts';

/** The messages of a batch that were not accepted, counted by their reasons. */
export interface RejectionCollector {
  readonly all: readonly RejectedMessage[];
  add(message: StreamMessage, rejection: Rejection): void;
}

export function createRejectionCollector(
  stream: InputStreamName,
  streamCreated: string,
  counts: MessageCounts,
): RejectionCollector {
  const all: RejectedMessage[] = [];
  return {
    all,
    add: ({ seq: sequence, subject, data }, { reason, detail }) => {
      counts.rejected(stream, reason);
      all.push({ streamCreated, sequence, subject, data, reason, detail });
    },
  };
}
