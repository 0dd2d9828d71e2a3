import { setup } from 'xstate';
import type { SettlementContext, SettlementEmission, SettlementEvent } from './settlementEvents.ts';
import type { SubmissionLifecycle } from './submission.ts';

/** Types of the machine, for its parts in several files. */
export const settlement = setup({
  types: {} as {
    context: SettlementContext;
    events: SettlementEvent;
    emitted: SettlementEmission;
    tags: SubmissionLifecycle;
  },
});

/** Whether the run, incident or submission that a message begins has not ended before. */
export function isNew({
  event,
}: {
  readonly context: SettlementContext;
  readonly event: { readonly hasEnded: boolean };
}): boolean {
  return !event.hasEnded;
}
