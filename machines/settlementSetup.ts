import { setup } from 'xstate';
import type { SettlementContext, SettlementEmission, SettlementEvent } from './settlementEvents.ts';
import type { SubmissionLifecycle } from './submission.ts';

/** The types of the machine, for what its parts are made with. */
export const settlement = setup({
  types: {} as {
    context: SettlementContext;
    events: SettlementEvent;
    emitted: SettlementEmission;
    tags: SubmissionLifecycle;
  },
});

/** Whether what a message begins has not ended before. */
export function isNew({
  event,
}: {
  readonly context: SettlementContext;
  readonly event: { readonly hasEnded: boolean };
}): boolean {
  return !event.hasEnded;
}
