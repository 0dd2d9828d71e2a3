import type { RejectionReason } from '../../actors/messages/decodeMessage.ts';

/** A message that a fold has rejected, on its way to `MINER_REJECTED`. */
export interface RejectedMessage {
  readonly streamCreated: string;
  readonly sequence: number;
  readonly subject: string;
  readonly data: Uint8Array;
  readonly reason: RejectionReason;
  readonly detail: string;
}
