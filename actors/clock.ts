/** The time, passed in wherever it is needed, so that folds and views stay pure. */
export interface Clock {
  /** Wall clock, epoch milliseconds. */
  nowMs(): number;
  /** Milliseconds that only go forward, from an arbitrary origin. */
  monotonicMs(): number;
  /** Milliseconds since the machine was started, with the time that it was suspended, in steps of 10. */
  bootMs(): number;
}
