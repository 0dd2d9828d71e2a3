export interface Readiness {
  readonly isReady: boolean;
  /** Progress of each part that readiness depends on. */
  readonly detail: Readonly<Record<string, unknown>>;
}
