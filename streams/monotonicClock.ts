/** The part of the clock that waiting needs. */
export interface MonotonicClock {
  /** Milliseconds that only go forward, from an arbitrary origin. */
  monotonicMs(): number;
}
