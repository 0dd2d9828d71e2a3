export interface Readiness {
  readonly isReady: boolean;
  /** What is waited for, by part. */
  readonly detail: Readonly<Record<string, unknown>>;
}
