export interface StreamMessage {
  readonly seq: number;
  readonly subject: string;
  readonly data: Uint8Array;
  /** When the server stored the message, in nanoseconds since the epoch. Reading it may parse it each time. */
  readonly timestampNanos: bigint;
}
