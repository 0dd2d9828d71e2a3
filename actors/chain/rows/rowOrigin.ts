/** The message whose folding stored a row of the chain. It may be much later than the message that made the row's block safe. */
export interface StoredBy {
  /** Its sequence in `MINER_CHAIN`. */
  readonly storedBy: number;
  /** When the stream stored it (epoch milliseconds). */
  readonly storedAtMs: number;
}

/** What every row of the chain's history says of its origin. */
export interface ChainRowOrigin extends StoredBy {
  /** Run of the fold that made it, as for an event of the feed. */
  readonly run: string;
}
