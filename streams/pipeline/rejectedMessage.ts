import type { RejectionReason } from '../../actors/messages/rejectionReasons.ts';

/** A message that a fold has rejected, on its way to `MINER_REJECTED`. */
export interface RejectedMessage {
  readonly streamCreated: string;
  readonly sequence: number;
  /** When the server stored it, nanoseconds since the epoch. */
  readonly storedAtNanos: bigint;
  readonly subject: string;
  /** Its `Nats-Msg-Id`; null without one. */
  readonly messageId: string | null;
  readonly data: Uint8Array;
  readonly reason: RejectionReason;
  readonly detail: string;
}
