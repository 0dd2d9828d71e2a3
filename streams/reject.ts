import type { Rejection } from '../actors/messages/decodeMessage.ts';
import type { StreamMessage } from '../actors/messages/streamMessage.ts';
import type { InputStreamName } from '../actors/messages/subjects.ts';
import type { RejectionLog } from './jetstream/rejectionLog.ts';
import type { MessageCounts } from './messageCounts.ts';

export interface RejectParts {
  readonly stream: InputStreamName;
  readonly counts: MessageCounts;
  /** Null on a read replica, which writes nothing. */
  readonly rejections: RejectionLog | null;
}

/** What a fold does with a message that it does not accept: counts it, and hands it to the rejection log. */
export function createReject({ stream, counts, rejections }: RejectParts) {
  return (message: StreamMessage, streamCreated: string, { reason, detail }: Rejection): void => {
    counts.rejected(stream, reason);
    const { seq: sequence, subject, data } = message;
    rejections?.add({ streamCreated, sequence, subject, data, reason, detail });
  };
}
