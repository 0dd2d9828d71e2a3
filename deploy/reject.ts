import type { Rejection } from '../streams/decodeMessage.ts';
import type { StreamMessage } from '../streams/messageSource.ts';
import type { RejectionLog } from '../streams/rejectionLog.ts';
import type { InputStreamName } from '../streams/subjects.ts';
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
