/** The last message of a stream that a state includes. */
export interface FoldedMessage {
  /** When the stream was created (epoch milliseconds). A stream that is created again uses the same sequences for other messages. */
  readonly streamCreatedMs: number;
  /** Sequence of the message; 0 before the first. */
  readonly position: number;
  /** When the stream stored the message (epoch milliseconds); 0 if unknown, as after a restoration. */
  readonly storedAtMs: number;
}
