/** The message whose folding stored a row. It may be much later than the message that made the row's block safe. */
export interface StoredBy {
  /** Its sequence in `MINER_CHAIN`. */
  readonly storedBy: number;
  /** When the stream stored it (epoch milliseconds). */
  readonly storedAtMs: number;
}
