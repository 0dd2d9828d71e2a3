import { assign, emit, type SnapshotFrom, setup } from 'xstate';
import { requireValue } from './requireValue.ts';

/** Counter epochs that may be approved, and incidents that may be open, at once. */
export const approvedEpochsMax = 256;
export const openIncidentsMax = 64;

/** Lifecycle of a submission, as the contract documents it. The states of the machine carry them as tags. */
export const submissionLifecycles = [
  'preparing',
  'submitted',
  'retrying',
  'confirmed',
  'reverted',
  'superseded',
] as const;
export type SubmissionLifecycle = (typeof submissionLifecycles)[number];

export interface Closure {
  readonly firstRound: bigint;
  readonly lastRound: bigint;
  readonly acceptedAtMs: number;
}

export interface ClosedRound {
  readonly roundId: bigint;
  readonly workUnits: bigint;
}

export interface StartedRun {
  readonly runId: string;
  readonly startedAtMs: number;
}

export interface FinishedRun {
  readonly startedAtMs: number;
  readonly finishedAtMs: number;
  readonly result: string;
}

/** A batch as its prepared submission describes it, with the core's sums expected afterwards. */
export interface SubmissionBatch {
  readonly previousSettledThroughRound: bigint;
  readonly settledThroughRound: bigint;
  readonly activeRoundCount: number;
  readonly expected: {
    readonly cumulativeWork: bigint;
    readonly cumulativeBlockUnits: bigint;
    readonly workPerThousandBlocks: bigint;
    readonly completedBlockCount: bigint;
  };
}

export interface Submission extends SubmissionBatch {
  readonly submissionId: string;
  readonly transactionHash: string | null;
  readonly createdAtMs: number;
  readonly submittedAtMs: number | null;
  readonly confirmedAtMs: number | null;
  readonly terminalAtMs: number | null;
  readonly changedAtMs: number;
}

export interface SettlementContext {
  readonly closure: Closure | null;
  readonly blockedReason: string | null;
  readonly approvedEpochs: readonly string[];
  readonly settlementEnabled: boolean;
  readonly reporterEnvironmentEnabled: boolean;
  readonly lastRun: FinishedRun | null;
  readonly unfinishedRun: StartedRun | null;
  readonly openIncidents: readonly string[];
  /** The latest one. */
  readonly submission: Submission | null;
}

interface SubmissionMove {
  readonly submissionId: string;
  readonly atMs: number;
}

/**
 * The messages of oracle and reporter. `hasEnded` is whether something with this ID has ended before: ended IDs are stored outside
 * the machine, because there are many.
 */
export type SettlementEvent =
  | ({ readonly type: 'closure_accepted'; readonly rounds: readonly ClosedRound[] } & Closure)
  | { readonly type: 'blocked'; readonly reason: string }
  | { readonly type: 'unblocked' }
  | { readonly type: 'epoch_approved'; readonly counterEpoch: string }
  | {
      readonly type: 'settings';
      readonly settlementEnabled: boolean;
      readonly reporterEnvironmentEnabled: boolean;
    }
  | {
      readonly type: 'run_started';
      readonly runId: string;
      readonly atMs: number;
      readonly hasEnded: boolean;
    }
  | {
      readonly type: 'run_finished';
      readonly runId: string;
      readonly atMs: number;
      readonly result: string;
    }
  | { readonly type: 'incident_opened'; readonly incidentId: string; readonly hasEnded: boolean }
  | { readonly type: 'incident_closed'; readonly incidentId: string }
  | ({
      readonly type: 'submission_prepared';
      readonly hasEnded: boolean;
    } & SubmissionMove &
      SubmissionBatch)
  | ({ readonly type: 'submission_submitted'; readonly transactionHash: string } & SubmissionMove)
  | ({ readonly type: 'submission_retrying'; readonly transactionHash: string | null } & SubmissionMove)
  | ({ readonly type: 'submission_confirmed' } & SubmissionMove)
  | ({ readonly type: 'submission_reverted' } & SubmissionMove)
  | ({ readonly type: 'submission_superseded' } & SubmissionMove)
  /** A message that was accepted before is stored again. No state accepts it. */
  | { readonly type: 'repeated' };

export const submissionOutcomes = ['confirmed', 'reverted', 'superseded'] as const;
export type SubmissionOutcome = (typeof submissionOutcomes)[number];

/** What the machine has done, for the lists outside it, which grow over time. */
export type SettlementRecord =
  | { readonly type: 'roundsClosed'; readonly rounds: readonly ClosedRound[] }
  | { readonly type: 'runEnded'; readonly runId: string }
  | { readonly type: 'incidentEnded'; readonly incidentId: string }
  | { readonly type: 'submissionPrepared'; readonly createdAtMs: number }
  | {
      readonly type: 'submissionEnded';
      readonly submissionId: string;
      readonly createdAtMs: number;
      readonly submittedAtMs: number | null;
      readonly terminalAtMs: number;
      readonly outcome: SubmissionOutcome;
    };

export type SettlementSnapshot = SnapshotFrom<typeof settlementMachine>;

/** Guards take the events of one type, or of several that share the fields that they read. */
type Received<Type extends SettlementEvent['type']> = {
  readonly context: SettlementContext;
  readonly event: Extract<SettlementEvent, { type: Type }>;
};

function continuesClosures({ context, event }: Received<'closure_accepted'>): boolean {
  return context.closure === null || event.firstRound > context.closure.lastRound;
}

function isNew({
  event,
}: {
  readonly context: SettlementContext;
  readonly event: { readonly hasEnded: boolean };
}): boolean {
  return !event.hasEnded;
}

function isAnother({ context, event }: Received<'run_started'>): boolean {
  return !event.hasEnded && context.unfinishedRun?.runId !== event.runId;
}

function isUnfinished({ context, event }: Received<'run_finished'>): boolean {
  return context.unfinishedRun?.runId === event.runId;
}

function isOneMore({ context, event }: Received<'incident_opened'>): boolean {
  return (
    !event.hasEnded &&
    !context.openIncidents.includes(event.incidentId) &&
    context.openIncidents.length < openIncidentsMax
  );
}

function isOpen({ context, event }: Received<'incident_closed'>): boolean {
  return context.openIncidents.includes(event.incidentId);
}

function isLastOpen({ context, event }: Received<'incident_closed'>): boolean {
  return context.openIncidents.length === 1 && context.openIncidents[0] === event.incidentId;
}

function isLatest({
  context,
  event,
}: {
  readonly context: SettlementContext;
  readonly event: SubmissionMove;
}): boolean {
  return context.submission?.submissionId === event.submissionId;
}

const settlement = setup({
  types: {
    context: {} as SettlementContext,
    events: {} as SettlementEvent,
    emitted: {} as SettlementRecord,
    tags: {} as SubmissionLifecycle,
  },
});

const emitEndedRun = settlement.emit(({ context }) => ({
  type: 'runEnded',
  runId: requireValue(context.unfinishedRun, 'the run that ends').runId,
}));

const startRun = settlement.assign(({ event }) => {
  if (event.type !== 'run_started') throw new Error(`${event.type} starts no run`);
  return { unfinishedRun: { runId: event.runId, startedAtMs: event.atMs } };
});

const openIncident = settlement.assign(({ context, event }) => {
  if (event.type !== 'incident_opened') throw new Error(`${event.type} opens no incident`);
  return { openIncidents: [...context.openIncidents, event.incidentId] };
});

const closeIncident = settlement.enqueueActions(({ context, event, enqueue }) => {
  if (event.type !== 'incident_closed') throw new Error(`${event.type} closes no incident`);
  const { incidentId } = event;
  enqueue.assign({ openIncidents: context.openIncidents.filter((one) => one !== incidentId) });
  enqueue.emit({ type: 'incidentEnded', incidentId });
});

const prepareSubmission = settlement.assign(({ event }) => {
  if (event.type !== 'submission_prepared') throw new Error(`${event.type} prepares no submission`);
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

/** How a transition changes the latest submission, with the times that belong to the state that it leads to. */
function moveSubmission(changeTimes: (atMs: number, submission: Submission) => Partial<Submission>) {
  return settlement.assign(({ context, event }) => {
    const submission = requireValue(context.submission, 'the submission that changes');
    if (!('submissionId' in event)) throw new Error(`${event.type} changes no submission`);
    const { atMs } = event;
    const transactionHash = 'transactionHash' in event ? event.transactionHash : submission.transactionHash;
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

/** What may follow while nothing of a submission has reached the chain, */
const unsentMoves = {
  submission_submitted: { guard: isLatest, target: 'submitted', actions: submit },
  submission_retrying: { guard: isLatest, target: 'retryingUnsent', actions: retry },
  submission_superseded: { guard: isLatest, target: '#superseded', actions: end },
} as const;

/** and once some of it has. */
const sentMoves = {
  submission_retrying: { guard: isLatest, target: 'retrying', actions: retry },
  submission_confirmed: { guard: isLatest, target: '#confirmed', actions: confirm },
  submission_reverted: { guard: isLatest, target: '#reverted', actions: end },
  submission_superseded: { guard: isLatest, target: '#superseded', actions: end },
} as const;

/**
 * Settlement of one installation. Its events are the messages of oracle and reporter: `snapshot.can(event)` says whether a
 * message is allowed. Closures, approved epochs and settings have no states. One submission is under way at a time; what was
 * never submitted can be superseded, and neither confirmed nor reverted.
 */
export const settlementMachine = settlement.createMachine({
  id: 'settlement',
  type: 'parallel',
  context: {
    closure: null,
    blockedReason: null,
    approvedEpochs: [],
    settlementEnabled: false,
    reporterEnvironmentEnabled: false,
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
    submission: {
      initial: 'unprepared',
      states: {
        unprepared: { on: { submission_prepared: preparation } },
        underWay: {
          initial: 'preparing',
          states: {
            preparing: { id: 'preparing', tags: 'preparing', on: unsentMoves },
            /** Documented as retrying: nothing of it has reached the chain yet. */
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
          states: {
            confirmed: {
              id: 'confirmed',
              type: 'final',
              tags: 'confirmed',
              entry: emitEndedSubmission('confirmed'),
            },
            reverted: {
              id: 'reverted',
              type: 'final',
              tags: 'reverted',
              entry: emitEndedSubmission('reverted'),
            },
            superseded: {
              id: 'superseded',
              type: 'final',
              tags: 'superseded',
              entry: emitEndedSubmission('superseded'),
            },
          },
        },
      },
    },
  },
});

/** Documented lifecycle of the latest submission; null before any was prepared. */
export function findSubmissionLifecycle(snapshot: SettlementSnapshot): SubmissionLifecycle | null {
  return submissionLifecycles.find((lifecycle) => snapshot.hasTag(lifecycle)) ?? null;
}
