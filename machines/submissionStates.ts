import { assertEvent } from 'xstate';
import { requireValue } from './requireValue.ts';
import type { SettlementContext, SubmissionMove } from './settlementEvents.ts';
import { isNew, settlement } from './settlementSetup.ts';
import { type Submission, type SubmissionOutcome, submissionOutcomes } from './submission.ts';

function isLatest({
  context,
  event,
}: {
  readonly context: SettlementContext;
  readonly event: SubmissionMove;
}): boolean {
  return context.submission?.submissionId === event.submissionId;
}

const prepareSubmission = settlement.assign(({ event }) => {
  assertEvent(event, 'submission_prepared');
  const { submissionId, previousSettledThroughRound, settledThroughRound, activeRoundCount, expected, atMs } =
    event;
  return {
    submission: {
      submissionId,
      previousSettledThroughRound,
      settledThroughRound,
      activeRoundCount,
      expected,
      transactionHash: null,
      createdAtMs: atMs,
      submittedAtMs: null,
      confirmedAtMs: null,
      terminalAtMs: null,
      changedAtMs: atMs,
    },
  };
});

const emitPrepared = settlement.emit(({ context }) => ({
  type: 'submissionPrepared',
  createdAtMs: requireValue(context.submission, 'the prepared submission').createdAtMs,
}));

const preparation = {
  guard: isNew,
  target: '#preparing',
  actions: [prepareSubmission, emitPrepared],
} as const;

/** Action that changes the latest submission, including the times that its next state sets. */
function moveSubmission(changeTimes: (atMs: number, submission: Submission) => Partial<Submission>) {
  return settlement.assign(({ context, event }) => {
    const submission = requireValue(context.submission, 'the submission that changes');
    if (!('submissionId' in event)) throw new Error(`${event.type} changes no submission`);
    const { atMs } = event;
    // A known transaction hash stays known if a later message leaves it out.
    const named = 'transactionHash' in event ? event.transactionHash : null;
    const transactionHash = named ?? submission.transactionHash;
    return {
      submission: { ...submission, transactionHash, ...changeTimes(atMs, submission), changedAtMs: atMs },
    };
  });
}

const submit = moveSubmission((atMs, { submittedAtMs }) => ({ submittedAtMs: submittedAtMs ?? atMs }));
const retry = moveSubmission(() => ({}));
const confirm = moveSubmission((atMs) => ({ confirmedAtMs: atMs, terminalAtMs: atMs }));
const end = moveSubmission((atMs) => ({ terminalAtMs: atMs }));

function emitEndedSubmission(outcome: SubmissionOutcome) {
  return settlement.emit(({ context }) => {
    const submission = requireValue(context.submission, 'the submission that ends');
    const { submissionId, createdAtMs, submittedAtMs } = submission;
    const terminalAtMs = requireValue(submission.terminalAtMs, 'the time of a submission that has ended');
    return { type: 'submissionEnded', submissionId, createdAtMs, submittedAtMs, terminalAtMs, outcome };
  });
}

function endAs(outcome: SubmissionOutcome) {
  return { id: outcome, type: 'final', tags: outcome, entry: emitEndedSubmission(outcome) } as const;
}

/** One final state for each outcome. `fromEntries` does not know its keys. */
const endedStates = Object.fromEntries(
  submissionOutcomes.map((outcome) => [outcome, endAs(outcome)]),
) as Record<SubmissionOutcome, ReturnType<typeof endAs>>;

/** Transitions of a submission that has not reached the chain. */
const unsentMoves = {
  submission_submitted: { guard: isLatest, target: 'submitted', actions: submit },
  submission_retrying: { guard: isLatest, target: 'retryingUnsent', actions: retry },
  submission_superseded: { guard: isLatest, target: '#superseded', actions: end },
} as const;

/** Transitions of a submission that has reached the chain. */
const sentMoves = {
  submission_retrying: { guard: isLatest, target: 'retrying', actions: retry },
  submission_confirmed: { guard: isLatest, target: '#confirmed', actions: confirm },
  submission_reverted: { guard: isLatest, target: '#reverted', actions: end },
  submission_superseded: { guard: isLatest, target: '#superseded', actions: end },
} as const;

/**
 * The latest submission. Only one is under way at a time. A submission that was never sent can be superseded, but not confirmed or reverted.
 */
export const submissionStates = {
  initial: 'unprepared',
  states: {
    unprepared: { on: { submission_prepared: preparation } },
    underWay: {
      initial: 'preparing',
      states: {
        preparing: { id: 'preparing', tags: 'preparing', on: unsentMoves },
        /** Documented as retrying, although it has not reached the chain yet. */
        retryingUnsent: { tags: 'retrying', on: unsentMoves },
        submitted: { tags: 'submitted', on: sentMoves },
        retrying: {
          tags: 'retrying',
          on: {
            submission_submitted: { guard: isLatest, target: 'submitted', actions: submit },
            ...sentMoves,
          },
        },
      },
    },
    ended: {
      initial: 'superseded',
      on: { submission_prepared: preparation },
      states: endedStates,
    },
  },
} as const;
