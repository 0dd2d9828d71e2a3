// For the schemas of the responses, which import no machines.
export { moduleStates } from '../../machines/moduleMachine.ts';
export { submissionLifecycles } from '../../machines/submission.ts';

export interface Readiness {
  readonly isReady: boolean;
  /** Progress of each part that readiness depends on. */
  readonly detail: Readonly<Record<string, unknown>>;
}
