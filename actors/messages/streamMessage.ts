export interface StreamMessage {
  readonly seq: number;
  readonly subject: string;
  readonly data: Uint8Array;
  /** When the server stored it, nanoseconds since the epoch. It may be parsed whenever it is asked for, so it is asked for only where it is needed. */
  readonly timestampNanos: bigint;
}

export type StoredAt = Pick<StreamMessage, 'timestampNanos'>;
