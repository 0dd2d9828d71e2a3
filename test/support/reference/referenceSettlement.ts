import { List } from 'immutable';
import { type Rejection, reject } from '../../../actors/messages/decodeMessage.ts';
import { explainBoundsExceeded } from '../../../actors/settlement/coreBounds.ts';
import type { OracleMessage } from '../../../actors/settlement/oracleMessage.ts';
import {
  isRemembered,
  noRememberedIds,
  type RememberedIds,
  rememberId,
} from '../../../actors/settlement/rememberedIds.ts';
import type { ReporterMessage } from '../../../actors/settlement/reporterMessage.ts';
import type { SubmissionBatch } from '../../../machines/submission.ts';

/**
 * Settlement of one installation as a plain fold over a plain state: a second implementation to compare the machine with. Its
 * snapshots are those of version 3 of the fold, which had a state like this one.
 */

type Event = 'submitted' | 'retrying' | 'confirmed' | 'reverted' | 'superseded';
type MachineState = Event | 'preparing' | 'retryingUnsent';

/** Where each event leads a submission; what is missing is not allowed. */
const nextStates: Record<MachineState, Partial<Record<Event, MachineState>>> = {
  preparing: { submitted: 'submitted', retrying: 'retryingUnsent', superseded: 'superseded' },
  retryingUnsent: { submitted: 'submitted', retrying: 'retryingUnsent', superseded: 'superseded' },
  submitted: {
    retrying: 'retrying',
    confirmed: 'confirmed',
    reverted: 'reverted',
    superseded: 'superseded',
  },
  retrying: {
    submitted: 'submitted',
    retrying: 'retrying',
    confirmed: 'confirmed',
    reverted: 'reverted',
    superseded: 'superseded',
  },
  confirmed: {},
  reverted: {},
  superseded: {},
};

/** Closed rounds that are retained: those above the settled frontier are needed, and a year of them is 52,560. */
const closedRoundsMax = 60_000;
/** Counter epochs that may be approved, and incidents that may be open, at once. */
const approvedEpochsMax = 256;
const openIncidentsMax = 64;
/** Ended submissions that are retained for the statistics. */
const endedSubmissionsMax = 10_000;

interface ClosedRound {
  readonly roundId: bigint;
  readonly workUnits: bigint;
}

interface Closure {
  readonly firstRound: bigint;
  readonly lastRound: bigint;
  readonly acceptedAtMs: number;
}

interface Submission {
  readonly submissionId: string;
  /** State of the submission's machine. */
  readonly machine: MachineState;
  readonly previousSettledThroughRound: bigint;
  readonly settledThroughRound: bigint;
  readonly activeRoundCount: number;
  readonly expected: SubmissionBatch['expected'];
  readonly transactionHash: string | null;
  readonly createdAtMs: number;
  readonly submittedAtMs: number | null;
  readonly confirmedAtMs: number | null;
  readonly terminalAtMs: number | null;
  readonly changedAtMs: number;
}

interface EndedSubmission {
  readonly createdAtMs: number;
  readonly submittedAtMs: number | null;
  readonly terminalAtMs: number;
  readonly outcome: 'confirmed' | 'reverted' | 'superseded';
}

/** What oracle and reporter of one installation have said. Immutable. */
export interface ReferenceSettlement {
  readonly closure: Closure | null;
  /** Ascending; a round that is skipped by the closures is missing here. */
  readonly closedRounds: List<ClosedRound>;
  readonly blockedReason: string | null;
  readonly approvedEpochs: readonly string[];
  readonly settlementEnabled: boolean | null;
  readonly reporterEnvironmentEnabled: boolean | null;
  readonly lastRun: {
    readonly startedAtMs: number;
    readonly finishedAtMs: number;
    readonly result: string;
  } | null;
  readonly unfinishedRun: { readonly runId: string; readonly startedAtMs: number } | null;
  readonly openIncidents: readonly string[];
  readonly submission: Submission | null;
  /** When the first submission was prepared that the statistics still count; null before any. */
  readonly submissionsSinceMs: number | null;
  /** Oldest first. */
  readonly endedSubmissions: List<EndedSubmission>;
  /** What has ended stays ended: IDs that no message can start again. */
  readonly ended: {
    readonly submissions: RememberedIds;
    /** Finished, or overtaken by a newer one. */
    readonly runs: RememberedIds;
    readonly incidents: RememberedIds;
  };
  /** Messages that were accepted: each counts once, also when it is stored again. */
  readonly acceptedMessages: RememberedIds;
}

export const emptyReference: ReferenceSettlement = {
  closure: null,
  closedRounds: List(),
  blockedReason: null,
  approvedEpochs: [],
  settlementEnabled: null,
  reporterEnvironmentEnabled: null,
  lastRun: null,
  unfinishedRun: null,
  openIncidents: [],
  submission: null,
  submissionsSinceMs: null,
  endedSubmissions: List(),
  ended: { submissions: noRememberedIds, runs: noRememberedIds, incidents: noRememberedIds },
  acceptedMessages: noRememberedIds,
};

type ReferenceOutcome = { readonly rejection: Rejection } | { readonly state: ReferenceSettlement };

/** The lifecycle as it is shown: a submission that was never sent retries like any other. */
function findLifecycle({ machine }: Submission): string {
  return machine === 'retryingUnsent' ? 'retrying' : machine;
}

function isTerminal(submission: Submission): boolean {
  return submission.terminalAtMs !== null;
}

/** What oracle or reporter said, and when the stream stored it (epoch milliseconds). */
type ReferenceMessage = { readonly storedAtMs: number } & (
  | { readonly kind: 'oracle'; readonly message: OracleMessage }
  | { readonly kind: 'reporter'; readonly message: ReporterMessage }
);

/**
 * Folds a message. One that was accepted before is not allowed again: the stream stores a message that is published again
 * after its dedupe window, and a setting or a block that was overtaken since must not come back.
 */
export function foldReference(
  state: ReferenceSettlement,
  { storedAtMs, ...said }: ReferenceMessage,
): ReferenceOutcome {
  const id = JSON.stringify(said);
  if (isRemembered(state.acceptedMessages, id)) return refuse('this message was accepted before');
  const outcome =
    said.kind === 'oracle' ? foldOracle(state, said.message) : foldReporter(state, said.message, storedAtMs);
  if ('rejection' in outcome) return outcome;
  const acceptedMessages = rememberId(outcome.state.acceptedMessages, id, storedAtMs);
  return { state: { ...outcome.state, acceptedMessages } };
}

function foldOracle(state: ReferenceSettlement, message: OracleMessage): ReferenceOutcome {
  switch (message.type) {
    case 'closure_accepted': {
      const firstRound = BigInt(message.firstRound);
      const lastRound = BigInt(message.lastRound);
      if (state.closure !== null && firstRound <= state.closure.lastRound) {
        return refuse(`round ${firstRound} is closed already, through ${state.closure.lastRound}`);
      }
      const rounds = message.rounds.map(({ roundId, workUnits }) => ({
        roundId: BigInt(roundId),
        workUnits: BigInt(workUnits),
      }));
      return {
        state: {
          ...state,
          closure: { firstRound, lastRound, acceptedAtMs: Date.parse(message.acceptedAt) },
          closedRounds: state.closedRounds.concat(rounds).slice(-closedRoundsMax),
        },
      };
    }
    case 'blocked':
      return { state: { ...state, blockedReason: message.reason } };
    case 'unblocked':
      return { state: { ...state, blockedReason: null } };
    case 'epoch_approved': {
      const epoch = message.counterEpoch.toLowerCase();
      const others = state.approvedEpochs.filter((one) => one !== epoch);
      return { state: { ...state, approvedEpochs: [...others, epoch].slice(-approvedEpochsMax) } };
    }
  }
}

function foldReporter(
  state: ReferenceSettlement,
  message: ReporterMessage,
  storedAtMs: number,
): ReferenceOutcome {
  const atMs = Date.parse(message.at);
  switch (message.type) {
    case 'settings': {
      const { settlementEnabled, reporterEnvironmentEnabled } = message;
      return { state: { ...state, settlementEnabled, reporterEnvironmentEnabled } };
    }
    case 'run_started': {
      const { runId } = message;
      const overtaken = state.unfinishedRun;
      if (overtaken?.runId === runId) return refuse(`run ${runId} is under way already`);
      if (isRemembered(state.ended.runs, runId)) return refuse(`run ${runId} has ended already`);
      const unfinishedRun = { runId, startedAtMs: atMs };
      const ended =
        overtaken === null ? state.ended : rememberEnded(state, 'runs', overtaken.runId, storedAtMs);
      return { state: { ...state, unfinishedRun, ended } };
    }
    case 'run_finished': {
      const run = state.unfinishedRun;
      if (run?.runId !== message.runId) {
        return refuse(
          `run ${message.runId} is not under way, ${run === null ? 'none is' : `${run.runId} is`}`,
        );
      }
      const lastRun = { startedAtMs: run.startedAtMs, finishedAtMs: atMs, result: message.result };
      const ended = rememberEnded(state, 'runs', run.runId, storedAtMs);
      return { state: { ...state, lastRun, unfinishedRun: null, ended } };
    }
    case 'incident_opened': {
      if (state.openIncidents.includes(message.incidentId)) {
        return refuse(`incident ${message.incidentId} is open already`);
      }
      if (isRemembered(state.ended.incidents, message.incidentId)) {
        return refuse(`incident ${message.incidentId} has ended already`);
      }
      if (state.openIncidents.length >= openIncidentsMax) {
        return refuse(`${openIncidentsMax} other incidents are open already`);
      }
      return { state: { ...state, openIncidents: [...state.openIncidents, message.incidentId] } };
    }
    case 'incident_closed': {
      if (!state.openIncidents.includes(message.incidentId)) {
        return refuse(`incident ${message.incidentId} is not open`);
      }
      const openIncidents = state.openIncidents.filter((one) => one !== message.incidentId);
      const ended = rememberEnded(state, 'incidents', message.incidentId, storedAtMs);
      return { state: { ...state, openIncidents, ended } };
    }
    case 'submission_prepared':
      return prepareSubmission(state, message, atMs);
    default:
      return moveSubmission(state, message, atMs, storedAtMs);
  }
}

/** What has ended, and one more of a kind. */
function rememberEnded(
  { ended }: ReferenceSettlement,
  kind: keyof ReferenceSettlement['ended'],
  id: string,
  storedAtMs: number,
): ReferenceSettlement['ended'] {
  return { ...ended, [kind]: rememberId(ended[kind], id, storedAtMs) };
}

function prepareSubmission(
  state: ReferenceSettlement,
  message: Extract<ReporterMessage, { type: 'submission_prepared' }>,
  atMs: number,
): ReferenceOutcome {
  const batch = {
    previousSettledThroughRound: BigInt(message.previousSettledThroughRound),
    settledThroughRound: BigInt(message.settledThroughRound),
    activeRoundCount: message.activeRoundCount,
    expected: {
      cumulativeWork: BigInt(message.expected.cumulativeWork),
      cumulativeBlockUnits: BigInt(message.expected.cumulativeBlockUnits),
      workPerThousandBlocks: BigInt(message.expected.workPerThousandBlocks),
      completedBlockCount: BigInt(message.expected.completedBlockCount),
    },
  };
  const excess = explainBoundsExceeded(batch.expected);
  if (excess !== null) return reject('malformed', excess);
  const { submission } = state;
  if (submission !== null && !isTerminal(submission)) {
    return refuse(`submission ${submission.submissionId} is still ${findLifecycle(submission)}`);
  }
  const submissionId = message.submissionId.toLowerCase();
  if (isRemembered(state.ended.submissions, submissionId)) {
    return refuse(`submission ${submissionId} has ended already`);
  }
  return {
    state: {
      ...state,
      submissionsSinceMs: state.submissionsSinceMs ?? atMs,
      submission: {
        submissionId,
        machine: 'preparing',
        ...batch,
        transactionHash: null,
        createdAtMs: atMs,
        submittedAtMs: null,
        confirmedAtMs: null,
        terminalAtMs: null,
        changedAtMs: atMs,
      },
    },
  };
}

type Move = Extract<ReporterMessage, { submissionId: string }>;

/** Events of the submission's machine, by the type of the message. */
const events = {
  submission_submitted: 'submitted',
  submission_retrying: 'retrying',
  submission_confirmed: 'confirmed',
  submission_reverted: 'reverted',
  submission_superseded: 'superseded',
} as const;

function moveSubmission(
  state: ReferenceSettlement,
  message: Exclude<Move, { type: 'submission_prepared' }>,
  atMs: number,
  storedAtMs: number,
): ReferenceOutcome {
  const { submission } = state;
  const submissionId = message.submissionId.toLowerCase();
  if (submission?.submissionId !== submissionId) {
    return refuse(
      `submission ${submissionId} is not the latest, ${submission?.submissionId ?? 'there is none'}`,
    );
  }
  const event = events[message.type];
  const machine = nextStates[submission.machine][event];
  if (machine === undefined) {
    return refuse(`a submission that is ${findLifecycle(submission)} cannot become ${event}`);
  }
  const isEnd = machine === 'confirmed' || machine === 'reverted' || machine === 'superseded';
  const next: Submission = {
    ...submission,
    machine,
    transactionHash: ('transactionHash' in message && message.transactionHash) || submission.transactionHash,
    submittedAtMs: machine === 'submitted' ? (submission.submittedAtMs ?? atMs) : submission.submittedAtMs,
    confirmedAtMs: machine === 'confirmed' ? atMs : null,
    terminalAtMs: isEnd ? atMs : null,
    changedAtMs: atMs,
  };
  if (!isEnd) return { state: { ...state, submission: next } };
  const { createdAtMs, submittedAtMs } = next;
  const all = state.endedSubmissions.push({
    createdAtMs,
    submittedAtMs,
    terminalAtMs: atMs,
    outcome: machine,
  });
  const isFull = all.size > endedSubmissionsMax;
  const endedSubmissions = isFull ? all.shift() : all;
  // The statistics cover only the retained submissions.
  const submissionsSinceMs = isFull
    ? (endedSubmissions.first()?.createdAtMs ?? createdAtMs)
    : state.submissionsSinceMs;
  const ended = rememberEnded(state, 'submissions', submissionId, storedAtMs);
  return { state: { ...state, submission: next, submissionsSinceMs, endedSubmissions, ended } };
}

function refuse(detail: string): { rejection: Rejection } {
  return reject('not_allowed', detail);
}

/** Remembered IDs in one list, as a line of a snapshot of version 3 or 4 had them. */
export function listIds({ entries }: RememberedIds) {
  return {
    keys: entries.map(({ key }) => key).join(''),
    stepsMs: entries
      .toArray()
      .map(({ storedAtMs }, index, all) => storedAtMs - (all[index - 1]?.storedAtMs ?? 0)),
  };
}

/** The settlement as a line of a snapshot of version 3 had it. */
export function encodeReference(state: ReferenceSettlement) {
  const { submissions, runs, incidents } = state.ended;
  return {
    ...state,
    closedRounds: state.closedRounds.toArray(),
    endedSubmissions: state.endedSubmissions.toArray(),
    ended: { submissions: listIds(submissions), runs: listIds(runs), incidents: listIds(incidents) },
    acceptedMessages: listIds(state.acceptedMessages),
  };
}

/** The documented states, with what they depend on besides the messages. */
export function viewReference(
  state: ReferenceSettlement,
  { isPaused, bufferedRoundCount, nowMs }: { isPaused: boolean; bufferedRoundCount: number; nowMs: number },
) {
  const { submission } = state;
  const lifecycle = submission === null ? null : findLifecycle(submission);
  const blockedReason = findBlockedReason(state, isPaused);
  return {
    oracle: findOracleState(state, nowMs),
    blockedReason,
    queue: findQueueState(state, blockedReason, bufferedRoundCount, nowMs),
    lifecycle,
    isUnderWay: submission !== null && !isTerminal(submission),
  };
}

function findOracleState({ closure, blockedReason }: ReferenceSettlement, nowMs: number): string {
  if (closure === null) return 'unavailable';
  if (blockedReason !== null) return 'blocked';
  return nowMs - closure.acceptedAtMs > 1_200_000 ? 'stale' : 'accepted';
}

function findBlockedReason(state: ReferenceSettlement, isPaused: boolean): string | null {
  if (state.openIncidents.length > 0) return 'incident_open';
  if (state.blockedReason !== null) return 'oracle_blocked';
  return isPaused ? 'settlement_paused' : null;
}

function findQueueState(
  { settlementEnabled, lastRun, unfinishedRun, submission }: ReferenceSettlement,
  blockedReason: string | null,
  bufferedRoundCount: number,
  nowMs: number,
): string {
  if (blockedReason !== null) return 'blocked';
  if (!settlementEnabled) return 'disabled';
  if (lastRun === null || nowMs - lastRun.finishedAtMs > 600_000 || unfinishedRun !== null) return 'stale';
  if (submission !== null && !isTerminal(submission)) return findLifecycle(submission);
  return bufferedRoundCount === 0 ? 'empty' : 'ready';
}
