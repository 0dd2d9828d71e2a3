import { List } from 'immutable';
import { getInitialSnapshot, getNextSnapshot, type StateValueFrom } from 'xstate';
import { type SubmissionLifecycle, submissionMachine } from '../../machines/submissionMachine.ts';
import { type Rejection, rejected } from '../messages/decodeMessage.ts';
import { type ExpectedSums, findImpossibility } from './expectedSums.ts';
import type { OracleMessage } from './oracleMessage.ts';
import { isRemembered, noRememberedIds, type RememberedIds, rememberId } from './rememberedIds.ts';
import type { ReporterMessage } from './reporterMessage.ts';

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
  readonly closedRounds: List<ClosedRound>;
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

export const emptySettlementPipeline: SettlementPipelineState = {
  closure: null,
  closedRounds: List(),
  blockedReason: null,
  approvedEpochs: [],
  settlementEnabled: false,
  reporterEnvironmentEnabled: false,
  lastRun: null,
  unfinishedRun: null,
  openIncidents: [],
  submission: null,
  submissionsSinceMs: null,
  endedSubmissions: List(),
  ended: { submissions: noRememberedIds, runs: noRememberedIds, incidents: noRememberedIds },
  acceptedMessages: noRememberedIds,
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

/** What oracle or reporter said, and when the stream stored it (epoch milliseconds). */
export type SettlementMessage = { readonly storedAtMs: number } & (
  | { readonly kind: 'oracle'; readonly message: OracleMessage }
  | { readonly kind: 'reporter'; readonly message: ReporterMessage }
);

/**
 * Folds a message. One that was accepted before is not allowed again: the stream stores a message that is published again
 * after its dedupe window, and a setting or a block that was overtaken since must not come back.
 */
export function foldSettlement(
  state: SettlementPipelineState,
  { storedAtMs, ...said }: SettlementMessage,
): PipelineFoldOutcome {
  const id = JSON.stringify(said);
  if (isRemembered(state.acceptedMessages, id)) return refused('this message was accepted before');
  const outcome =
    said.kind === 'oracle' ? foldOracle(state, said.message) : foldReporter(state, said.message, storedAtMs);
  if ('rejection' in outcome) return outcome;
  const acceptedMessages = rememberId(outcome.state.acceptedMessages, id, storedAtMs);
  return { state: { ...outcome.state, acceptedMessages } };
}

function foldOracle(state: SettlementPipelineState, message: OracleMessage): PipelineFoldOutcome {
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
  state: SettlementPipelineState,
  message: ReporterMessage,
  storedAtMs: number,
): PipelineFoldOutcome {
  const atMs = Date.parse(message.at);
  switch (message.type) {
    case 'settings': {
      const { settlementEnabled, reporterEnvironmentEnabled } = message;
      return { state: { ...state, settlementEnabled, reporterEnvironmentEnabled } };
    }
    case 'run_started': {
      const { runId } = message;
      const overtaken = state.unfinishedRun;
      if (overtaken?.runId === runId) return refused(`run ${runId} is under way already`);
      if (isRemembered(state.ended.runs, runId)) return refused(`run ${runId} has ended already`);
      const unfinishedRun = { runId, startedAtMs: atMs };
      const ended =
        overtaken === null ? state.ended : rememberEnded(state, 'runs', overtaken.runId, storedAtMs);
      return { state: { ...state, unfinishedRun, ended } };
    }
    case 'run_finished': {
      const run = state.unfinishedRun;
      if (run?.runId !== message.runId) {
        return refused(
          `run ${message.runId} is not under way, ${run === null ? 'none is' : `${run.runId} is`}`,
        );
      }
      const lastRun = { startedAtMs: run.startedAtMs, finishedAtMs: atMs, result: message.result };
      const ended = rememberEnded(state, 'runs', run.runId, storedAtMs);
      return { state: { ...state, lastRun, unfinishedRun: null, ended } };
    }
    case 'incident_opened': {
      if (state.openIncidents.includes(message.incidentId)) {
        return refused(`incident ${message.incidentId} is open already`);
      }
      if (isRemembered(state.ended.incidents, message.incidentId)) {
        return refused(`incident ${message.incidentId} has ended already`);
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
      const openIncidents = state.openIncidents.filter((one) => one !== message.incidentId);
      const ended = rememberEnded(state, 'incidents', message.incidentId, storedAtMs);
      return { state: { ...state, openIncidents, ended } };
    }
    case 'submission_prepared':
      return prepared(state, message, atMs);
    default:
      return moved(state, message, atMs, storedAtMs);
  }
}

/** What has ended, and one more of a kind. */
function rememberEnded(
  { ended }: SettlementPipelineState,
  kind: keyof SettlementPipelineState['ended'],
  id: string,
  storedAtMs: number,
): SettlementPipelineState['ended'] {
  return { ...ended, [kind]: rememberId(ended[kind], id, storedAtMs) };
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
  if (isRemembered(state.ended.submissions, submissionId)) {
    return refused(`submission ${submissionId} has ended already`);
  }
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
  storedAtMs: number,
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
  const all = state.endedSubmissions.push({
    createdAtMs,
    submittedAtMs,
    terminalAtMs: atMs,
    outcome: machine,
  });
  const isFull = all.size > endedSubmissionsMax;
  const endedSubmissions = isFull ? all.shift() : all;
  // The statistics cover only what is held of the submissions.
  const submissionsSinceMs = isFull
    ? (endedSubmissions.first()?.createdAtMs ?? createdAtMs)
    : state.submissionsSinceMs;
  const ended = rememberEnded(state, 'submissions', submissionId, storedAtMs);
  return { state: { ...state, submission: next, submissionsSinceMs, endedSubmissions, ended } };
}

function refused(detail: string): { rejection: Rejection } {
  return rejected('not_allowed', detail);
}
