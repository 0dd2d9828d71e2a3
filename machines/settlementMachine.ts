import { assertEvent, assign, emit, type SnapshotFrom, setup } from 'xstate';
import { requireValue } from './requireValue.ts';
import {
  approvedEpochsMax,
  openIncidentsMax,
  type SettlementContext,
  type SettlementEmission,
  type SettlementEvent,
  type SubmissionMove,
} from './settlementEvents.ts';
import {
  type Submission,
  type SubmissionLifecycle,
  type SubmissionOutcome,
  submissionLifecycles,
  submissionOutcomes,
} from './submission.ts';

export type SettlementSnapshot = SnapshotFrom<typeof settlementMachine>;

const settlement = setup({
  types: {} as {
    context: SettlementContext;
    events: SettlementEvent;
    emitted: SettlementEmission;
    tags: SubmissionLifecycle;
  },
});

/** Whether the run, incident or submission that a message begins has not ended before. */
function isNew({ event }: { readonly event: { readonly hasEnded: boolean } }): boolean {
  return !event.hasEnded;
}

/** A guard takes events of one type, or of several types that share the fields that it reads. */
type GuardArguments<Type extends SettlementEvent['type']> = {
  readonly context: SettlementContext;
  readonly event: Extract<SettlementEvent, { type: Type }>;
};

/**
 * Rounds that a closure skips stay open, and nothing is projected until the chain has settled past them. Refusing such a closure would make one that was
 * lost, or refused for a wrong clock, stop all later ones.
 */
function continuesClosures({ context, event }: GuardArguments<'closure_accepted'>): boolean {
  return context.closure === null || event.firstRound > context.closure.lastRound;
}

function isAnother({ context, event }: GuardArguments<'run_started'>): boolean {
  return !event.hasEnded && context.unfinishedRun?.runId !== event.runId;
}

function isUnfinished({ context, event }: GuardArguments<'run_finished'>): boolean {
  return context.unfinishedRun?.runId === event.runId;
}

function isOneMore({ context, event }: GuardArguments<'incident_opened'>): boolean {
  return (
    !event.hasEnded &&
    !context.openIncidents.includes(event.incidentId) &&
    context.openIncidents.length < openIncidentsMax
  );
}

function isOpen({ context, event }: GuardArguments<'incident_closed'>): boolean {
  return context.openIncidents.includes(event.incidentId);
}

function isLastOpen({ context, event }: GuardArguments<'incident_closed'>): boolean {
  return context.openIncidents.length === 1 && context.openIncidents[0] === event.incidentId;
}

const emitEndedRun = settlement.emit(({ context }) => ({
  type: 'runEnded',
  runId: requireValue(context.unfinishedRun, 'the run that ends').runId,
}));

const startRun = settlement.assign(({ event }) => {
  assertEvent(event, 'run_started');
  return { unfinishedRun: { runId: event.runId, startedAtMs: event.atMs } };
});

const openIncident = settlement.assign(({ context, event }) => {
  assertEvent(event, 'incident_opened');
  return { openIncidents: [...context.openIncidents, event.incidentId] };
});

const closeIncident = settlement.enqueueActions(({ context, event, enqueue }) => {
  assertEvent(event, 'incident_closed');
  const { incidentId } = event;
  enqueue.assign({ openIncidents: context.openIncidents.filter((one) => one !== incidentId) });
  enqueue.emit({ type: 'incidentEnded', incidentId });
});

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
const submissionStates = {
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

/**
 * Settlement of one installation. Its events are the messages of oracle and reporter; `snapshot.can(event)` tells whether a
 * message is allowed. Closures, approved epochs and settings have no states.
 */
export const settlementMachine = settlement.createMachine({
  id: 'settlement',
  type: 'parallel',
  context: {
    closure: null,
    blockedReason: null,
    approvedEpochs: [],
    settlementEnabled: null,
    reporterEnvironmentEnabled: null,
    lastRun: null,
    unfinishedRun: null,
    openIncidents: [],
    submission: null,
  },
  on: {
    closure_accepted: {
      guard: continuesClosures,
      actions: [
        assign({
          closure: ({ event: { firstRound, lastRound, acceptedAtMs } }) => ({
            firstRound,
            lastRound,
            acceptedAtMs,
          }),
        }),
        emit(({ event }) => ({ type: 'roundsClosed', rounds: event.rounds })),
      ],
    },
    epoch_approved: {
      actions: assign({
        approvedEpochs: ({ context, event: { counterEpoch } }) =>
          [...context.approvedEpochs.filter((one) => one !== counterEpoch), counterEpoch].slice(
            -approvedEpochsMax,
          ),
      }),
    },
    settings: {
      actions: assign(({ event: { settlementEnabled, reporterEnvironmentEnabled } }) => ({
        settlementEnabled,
        reporterEnvironmentEnabled,
      })),
    },
  },
  states: {
    oracle: {
      initial: 'unblocked',
      on: {
        blocked: { target: '.blocked', actions: assign({ blockedReason: ({ event }) => event.reason }) },
        unblocked: { target: '.unblocked', actions: assign({ blockedReason: null }) },
      },
      states: { unblocked: {}, blocked: {} },
    },
    run: {
      initial: 'idle',
      states: {
        idle: { on: { run_started: { guard: isNew, target: 'running', actions: startRun } } },
        running: {
          on: {
            /** A newer run replaces the unfinished one, which thereby ends. */
            run_started: { guard: isAnother, target: 'running', actions: [emitEndedRun, startRun] },
            run_finished: {
              guard: isUnfinished,
              target: 'idle',
              actions: [
                emitEndedRun,
                assign(({ context, event: { atMs, result } }) => ({
                  lastRun: {
                    startedAtMs: requireValue(context.unfinishedRun, 'the run that finishes').startedAtMs,
                    finishedAtMs: atMs,
                    result,
                  },
                  unfinishedRun: null,
                })),
              ],
            },
          },
        },
      },
    },
    incidents: {
      initial: 'noneOpen',
      states: {
        noneOpen: { on: { incident_opened: { guard: isNew, target: 'someOpen', actions: openIncident } } },
        someOpen: {
          on: {
            incident_opened: { guard: isOneMore, actions: openIncident },
            incident_closed: [
              { guard: isLastOpen, target: 'noneOpen', actions: closeIncident },
              { guard: isOpen, actions: closeIncident },
            ],
          },
        },
      },
    },
    submission: submissionStates,
  },
});

/** Documented lifecycle of the latest submission; null before any was prepared. */
export function findSubmissionLifecycle(snapshot: SettlementSnapshot): SubmissionLifecycle | null {
  return submissionLifecycles.find((lifecycle) => snapshot.hasTag(lifecycle)) ?? null;
}
