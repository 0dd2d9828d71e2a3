/** The message whose folding made a row. It may be much later than the message that the row is about. */
export interface StoredBy {
  /** Its sequence in the stream. */
  readonly storedBy: number;
}
