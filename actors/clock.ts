/** Source of time. It is injected, so that folds and views stay pure. */
export interface Clock {
  /** Wall clock, epoch milliseconds. */
  nowMs(): number;
  /** Milliseconds that only go forward, from an arbitrary origin. */
  monotonicMs(): number;
  /** Milliseconds since the machine started, including suspended time, in steps of 10. */
  bootMs(): number;
}
