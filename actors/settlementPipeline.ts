import { getInitialSnapshot, getNextSnapshot, type StateValueFrom } from 'xstate';
import { type SubmissionLifecycle, submissionMachine } from '../machines/submissionMachine.ts';
import { type Rejection, rejected } from '../streams/decodeMessage.ts';
import type { OracleMessage } from '../streams/oracleMessage.ts';
import type { ReporterMessage } from '../streams/reporterMessage.ts';
import { type ExpectedSums, findImpossibility } from './expectedSums.ts';

/** Closed rounds that are held: those above the settled frontier are needed, and a year of them is 52,560. */
export const closedRoundsMax = 60_000;
/** Counter epochs that may be approved, and incidents that may be open, at once. */
export const approvedEpochsMax = 256;
export const openIncidentsMax = 64;
/** Ended submissions that are held for the statistics. */
export const endedSubmissionsMax = 10_000;

export interface ClosedRound {
  readonly roundId: bigint;
  readonly workUnits: bigint;
}

export interface Closure {
  readonly firstRound: bigint;
  readonly lastRound: bigint;
  readonly acceptedAtMs: number;
}

export interface Submission {
  readonly submissionId: string;
  /** State of the submission's machine. */
  readonly machine: StateValueFrom<typeof submissionMachine>;
  readonly previousSettledThroughRound: bigint;
  readonly settledThroughRound: bigint;
  readonly activeRoundCount: number;
  readonly expected: ExpectedSums;
  readonly transactionHash: string | null;
  readonly createdAtMs: number;
  readonly submittedAtMs: number | null;
  readonly confirmedAtMs: number | null;
  readonly terminalAtMs: number | null;
  readonly changedAtMs: number;
}

export interface EndedSubmission {
  readonly createdAtMs: number;
  readonly submittedAtMs: number | null;
  readonly terminalAtMs: number;
  readonly outcome: 'confirmed' | 'reverted' | 'superseded';
}

/** What oracle and reporter of one installation have said. Immutable. */
export interface SettlementPipelineState {
  readonly closure: Closure | null;
  /** Ascending; a round that is skipped by the closures is missing here. */
  readonly closedRounds: readonly ClosedRound[];
  readonly blockedReason: string | null;
  readonly approvedEpochs: readonly string[];
  readonly settlementEnabled: boolean;
  readonly reporterEnvironmentEnabled: boolean;
  readonly lastRun: {
    readonly startedAtMs: number;
    readonly finishedAtMs: number;
    readonly result: string;
  } | null;
  readonly unfinishedRun: { readonly runId: string; readonly startedAtMs: number } | null;
  readonly openIncidents: readonly string[];
  readonly submission: Submission | null;
  /** When the first submission was prepared; null before it. */
  readonly submissionsSinceMs: number | null;
  /** Oldest first. */
  readonly endedSubmissions: readonly EndedSubmission[];
}

export const emptySettlementPipeline: SettlementPipelineState = {
  closure: null,
  closedRounds: [],
  blockedReason: null,
  approvedEpochs: [],
  settlementEnabled: false,
  reporterEnvironmentEnabled: false,
  lastRun: null,
  unfinishedRun: null,
  openIncidents: [],
  submission: null,
  submissionsSinceMs: null,
  endedSubmissions: [],
};

export type PipelineFoldOutcome =
  | { readonly rejection: Rejection }
  | { readonly state: SettlementPipelineState };

/** The lifecycle as it is shown: a submission that was never sent retries like any other. */
export function lifecycleOf({ machine }: Submission): SubmissionLifecycle {
  return machine === 'retryingUnsent' ? 'retrying' : machine;
}

export function isTerminal(submission: Submission): boolean {
  return submission.terminalAtMs !== null;
}

export function foldOracle(state: SettlementPipelineState, message: OracleMessage): PipelineFoldOutcome {
  switch (message.type) {
    case 'closure_accepted': {
      const firstRound = BigInt(message.firstRound);
      const lastRound = BigInt(message.lastRound);
      if (state.closure !== null && firstRound <= state.closure.lastRound) {
        return refused(`round ${firstRound} is closed already, through ${state.closure.lastRound}`);
      }
      const rounds = message.rounds.map(({ roundId, workUnits }) => ({
        roundId: BigInt(roundId),
        workUnits: BigInt(workUnits),
      }));
      return {
        state: {
          ...state,
          closure: { firstRound, lastRound, acceptedAtMs: Date.parse(message.acceptedAt) },
          closedRounds: [...state.closedRounds, ...rounds].slice(-closedRoundsMax),
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

export function foldReporter(state: SettlementPipelineState, message: ReporterMessage): PipelineFoldOutcome {
  const atMs = Date.parse(message.at);
  switch (message.type) {
    case 'settings': {
      const { settlementEnabled, reporterEnvironmentEnabled } = message;
      return { state: { ...state, settlementEnabled, reporterEnvironmentEnabled } };
    }
    case 'run_started':
      return { state: { ...state, unfinishedRun: { runId: message.runId, startedAtMs: atMs } } };
    case 'run_finished': {
      const run = state.unfinishedRun;
      if (run?.runId !== message.runId) {
        return refused(
          `run ${message.runId} is not under way, ${run === null ? 'none is' : `${run.runId} is`}`,
        );
      }
      const lastRun = { startedAtMs: run.startedAtMs, finishedAtMs: atMs, result: message.result };
      return { state: { ...state, lastRun, unfinishedRun: null } };
    }
    case 'incident_opened': {
      if (state.openIncidents.includes(message.incidentId)) {
        return refused(`incident ${message.incidentId} is open already`);
      }
      if (state.openIncidents.length >= openIncidentsMax) {
        return refused(`${openIncidentsMax} other incidents are open already`);
      }
      return { state: { ...state, openIncidents: [...state.openIncidents, message.incidentId] } };
    }
    case 'incident_closed': {
      if (!state.openIncidents.includes(message.incidentId)) {
        return refused(`incident ${message.incidentId} is not open`);
      }
      return {
        state: { ...state, openIncidents: state.openIncidents.filter((one) => one !== message.incidentId) },
      };
    }
    case 'submission_prepared':
      return prepared(state, message, atMs);
    default:
      return moved(state, message, atMs);
  }
}

function prepared(
  state: SettlementPipelineState,
  message: Extract<ReporterMessage, { type: 'submission_prepared' }>,
  atMs: number,
): PipelineFoldOutcome {
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
  const impossibility = findImpossibility(batch);
  if (impossibility !== null) return rejected('malformed', impossibility);
  const { submission } = state;
  if (submission !== null && !isTerminal(submission)) {
    return refused(`submission ${submission.submissionId} is still ${lifecycleOf(submission)}`);
  }
  const submissionId = message.submissionId.toLowerCase();
  if (submission?.submissionId === submissionId)
    return refused(`submission ${submissionId} has ended already`);
  return {
    state: {
      ...state,
      submissionsSinceMs: state.submissionsSinceMs ?? atMs,
      submission: {
        submissionId,
        machine: getInitialSnapshot(submissionMachine).value,
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

function moved(
  state: SettlementPipelineState,
  message: Exclude<Move, { type: 'submission_prepared' }>,
  atMs: number,
): PipelineFoldOutcome {
  const { submission } = state;
  const submissionId = message.submissionId.toLowerCase();
  if (submission?.submissionId !== submissionId) {
    return refused(
      `submission ${submissionId} is not the latest, ${submission?.submissionId ?? 'there is none'}`,
    );
  }
  const held = submissionMachine.resolveState({ value: submission.machine, context: {} });
  const event = { type: events[message.type] };
  if (!held.can(event))
    return refused(`a submission that is ${lifecycleOf(submission)} cannot become ${event.type}`);
  const machine = getNextSnapshot(submissionMachine, held, event).value;
  const isEnd = machine === 'confirmed' || machine === 'reverted' || machine === 'superseded';
  const next: Submission = {
    ...submission,
    machine,
    transactionHash: 'transactionHash' in message ? message.transactionHash : submission.transactionHash,
    submittedAtMs: machine === 'submitted' ? (submission.submittedAtMs ?? atMs) : submission.submittedAtMs,
    confirmedAtMs: machine === 'confirmed' ? atMs : null,
    terminalAtMs: isEnd ? atMs : null,
    changedAtMs: atMs,
  };
  if (!isEnd) return { state: { ...state, submission: next } };
  const { createdAtMs, submittedAtMs } = next;
  const ended: EndedSubmission = { createdAtMs, submittedAtMs, terminalAtMs: atMs, outcome: machine };
  const endedSubmissions = [...state.endedSubmissions, ended].slice(-endedSubmissionsMax);
  return { state: { ...state, submission: next, endedSubmissions } };
}

function refused(detail: string): { rejection: Rejection } {
  return rejected('not_allowed', detail);
}
