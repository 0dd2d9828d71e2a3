/** One message of a stream. */
export interface StreamMessage {
  readonly seq: number;
  readonly subject: string;
  readonly data: Uint8Array;
  /** When the server stored it, nanoseconds since the epoch. */
  readonly timestampNanos: bigint;
}
