import { z } from 'zod';
import { settlementContext } from '../../machines/settlementEvents.ts';
import { type SettlementSnapshot, settlementMachine } from '../../machines/settlementMachine.ts';

export const persistedMachine = z.strictObject({
  /** State of the submission. The other states of the machine follow from its context. */
  submissionState: z.string(),
  context: settlementContext,
});

/** @throws ZodError for a machine that no snapshot can hold. */
export function persistMachine({ value, context }: SettlementSnapshot): z.output<typeof persistedMachine> {
  const { submission } = value;
  const [submissionState] = typeof submission === 'string' ? [submission] : Object.values(submission);
  return persistedMachine.parse({ submissionState, context });
}

/** @throws Error if the submission's state contradicts the context. */
export function resolveMachine(machine: z.output<typeof persistedMachine>): SettlementSnapshot {
  const { submissionState, context } = machine;
  const { blockedReason, unfinishedRun, openIncidents, submission } = context;
  const stage = submission?.terminalAtMs === null ? 'underWay' : 'ended';
  const value = {
    oracle: blockedReason === null ? 'unblocked' : 'blocked',
    run: unfinishedRun === null ? 'idle' : 'running',
    incidents: openIncidents.length === 0 ? 'noneOpen' : 'someOpen',
    submission: submission === null ? submissionState : { [stage]: submissionState },
  };
  return settlementMachine.resolveState({ value, context });
}
