import type { List } from 'immutable';
import { oracleMachine } from '../machines/oracleMachine.ts';
import { settlementQueueMachine } from '../machines/settlementQueueMachine.ts';
import { type ActivityState, roundAt } from './activityFold.ts';
import { blocksOf, blockUnitsPerBlock, type ChainState } from './chain/chainState.ts';
import { type Frontier, projected, type WorkedRound } from './chain/settlementArithmetic.ts';
import { observed } from './observed.ts';
import {
  type ClosedRound,
  isTerminal,
  lifecycleOf,
  type SettlementPipelineState,
  type Submission,
} from './settlementPipeline.ts';
import type {
  AnchorView,
  BlockedReason,
  BuilderView,
  FrontierView,
  MeasurementView,
  OracleView,
  ProjectedView,
  QueueUnavailableReason,
  SettlementQueueView,
  SubmissionView,
} from './views.ts';

/** A reporter whose last completed run is older than this is stale (document 3, Limits). */
const reporterStaleMs = 600_000;

/** What the process snapshot is made of. */
export interface ProcessSources {
  readonly measurement: MeasurementView | null;
  /** Null without any accepted reading. */
  readonly activity: ActivityState | null;
  readonly pipeline: SettlementPipelineState;
  /** The newest safe state; null while there is none. */
  readonly chain: ChainState | null;
  readonly genesisMs: number;
  readonly nowMs: number;
}

export interface ProcessProjection {
  readonly builder: BuilderView;
  readonly oracle: OracleView;
  readonly settlementQueue: SettlementQueueView;
}

/** Where the chain stands, and the closed rounds that follow it. */
interface Buffer {
  readonly anchor: AnchorView;
  readonly configuration: NonNullable<ChainState['core']['configuration']>;
  readonly rounds: readonly ClosedRound[];
}

export function projectProcess(sources: ProcessSources): ProcessProjection {
  const { pipeline, chain } = sources;
  const buffer = bufferOf(pipeline, chain);
  return {
    oracle: oracleOf(sources),
    settlementQueue: queueOf(sources, buffer),
    builder: builderOf(sources, buffer),
  };
}

function oracleOf({ pipeline, nowMs }: ProcessSources): OracleView {
  const { closure, blockedReason } = pipeline;
  const state = observed(oracleMachine, {
    type: 'observed',
    oracle: {
      hasClosure: closure !== null,
      isBlocked: blockedReason !== null,
      acceptanceAgeMs: closure === null ? 0 : nowMs - closure.acceptedAtMs,
    },
  });
  const reasons = { accepted: null, stale: null, blocked: blockedReason, unavailable: 'no_closure' };
  return {
    state,
    reason: reasons[state],
    latestAcceptedAtMs: closure?.acceptedAtMs ?? null,
    latestClosure: closure,
  };
}

/** The closed rounds above the settled frontier, or the first reason why they cannot be projected. */
function bufferOf(
  pipeline: SettlementPipelineState,
  chain: ChainState | null,
): Buffer | QueueUnavailableReason {
  const { closure, closedRounds } = pipeline;
  if (closure === null) return 'oracle_head_unavailable';
  const configuration = chain?.core.configuration ?? null;
  if (chain === null || configuration === null) return 'round_projection_gap';
  const { core, settlements } = chain;
  if (closure.lastRound < core.settledThroughRound) return 'round_projection_gap';
  const rounds = roundsAbove(closedRounds, core.settledThroughRound);
  const isContinuous = BigInt(rounds.length) === closure.lastRound - core.settledThroughRound;
  if (!isContinuous) return 'round_projection_gap';
  if (rounds.some(({ workUnits }) => workUnits > configuration.maxWorkPerRound)) return 'round_ineligible';
  const last = settlements.last();
  return {
    configuration,
    rounds,
    anchor: {
      ...frontierOf(core),
      confirmedAtMs: last?.source.blockTimestampMs ?? null,
      transactionHash: last?.source.transactionHash ?? null,
    },
  };
}

function roundsAbove(rounds: List<ClosedRound>, frontier: bigint): readonly ClosedRound[] {
  let low = 0;
  let high = rounds.size;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((rounds.get(middle) as ClosedRound).roundId > frontier) high = middle;
    else low = middle + 1;
  }
  return rounds.slice(low).toArray();
}

function queueOf(sources: ProcessSources, buffer: Buffer | QueueUnavailableReason): SettlementQueueView {
  if (typeof buffer === 'string') return { status: 'unavailable', reason: buffer };
  const { pipeline, chain, nowMs } = sources;
  const { lastRun, unfinishedRun, submission, settlementEnabled, reporterEnvironmentEnabled } = pipeline;
  const { rounds } = buffer;
  const blockedReason = blockedReasonOf(pipeline, chain);
  const active = submission !== null && !isTerminal(submission) ? lifecycleOf(submission) : null;
  const state = observed(settlementQueueMachine, {
    type: 'observed',
    queue: {
      isBlocked: blockedReason !== null,
      isEnabled: settlementEnabled,
      isReporterStale:
        lastRun === null || nowMs - lastRun.finishedAtMs > reporterStaleMs || unfinishedRun !== null,
      activeSubmission:
        active === 'preparing' || active === 'submitted' || active === 'retrying' ? active : null,
      hasBufferedRounds: rounds.length > 0,
    },
  });
  return {
    status: 'available',
    state,
    settlementEnabled,
    reporterEnvironmentEnabled,
    buffered: {
      firstRound: rounds[0]?.roundId ?? null,
      lastRound: rounds.at(-1)?.roundId ?? null,
      roundCount: BigInt(rounds.length),
      activeRoundCount: BigInt(rounds.filter(({ workUnits }) => workUnits > 0n).length),
      workUnits: workOf(rounds),
    },
    projected: projectedView(buffer, rounds),
    incidentOpen: pipeline.openIncidents.length > 0,
    blockedReason,
    lastRun,
    latestSubmission: submission === null ? null : submissionView(submission),
  };
}

function blockedReasonOf(pipeline: SettlementPipelineState, chain: ChainState | null): BlockedReason | null {
  if (pipeline.openIncidents.length > 0) return 'incident_open';
  if (pipeline.blockedReason !== null) return 'oracle_blocked';
  return chain?.core.paused ? 'settlement_paused' : null;
}

/** Closed and open work, projected on the settled frontier; the first reason that applies where it cannot be. */
function builderOf(sources: ProcessSources, buffer: Buffer | QueueUnavailableReason): BuilderView {
  const { measurement, activity, pipeline, genesisMs } = sources;
  if (measurement === null || activity === null) return { status: 'unavailable', reason: 'no_measurement' };
  const { reading } = measurement;
  if (reading.coreStatus === 'COUNTER_FAULT') return { status: 'unavailable', reason: 'counter_fault' };
  if (!pipeline.approvedEpochs.includes(reading.counterEpoch)) {
    return { status: 'unavailable', reason: 'counter_epoch_unapproved' };
  }
  if (buffer === 'round_ineligible') {
    // What was measured after the last closure is tested first: a gap comes before an ineligible round.
    const open = openRounds(activity, pipeline, roundAt(reading.observedAtMs, genesisMs), null);
    return { status: 'unavailable', reason: open === null ? 'round_projection_gap' : 'round_ineligible' };
  }
  if (typeof buffer === 'string') return { status: 'unavailable', reason: buffer };
  const open = openRounds(
    activity,
    pipeline,
    roundAt(reading.observedAtMs, genesisMs),
    buffer.anchor.settledThroughRound,
  );
  if (open === null) return { status: 'unavailable', reason: 'round_projection_gap' };
  const { rounds, configuration } = buffer;
  if (open.some(({ workUnits }) => workUnits > configuration.maxWorkPerRound)) {
    return { status: 'unavailable', reason: 'round_ineligible' };
  }
  return {
    status: 'available',
    anchor: buffer.anchor,
    queued: {
      closedRoundCount: BigInt(rounds.length),
      closedWorkUnits: workOf(rounds),
      openRoundWorkUnits: workOf(open),
    },
    projected: projectedView(buffer, [...rounds, ...open]),
  };
}

/**
 * Rounds after the last closure, through the one of the newest reading: ended ones as they were observed, the open one as
 * far as it is measured. Null when one of the ended ones is not observed.
 */
function openRounds(
  activity: ActivityState,
  { closure }: SettlementPipelineState,
  openRound: number,
  settledThroughRound: bigint | null,
): WorkedRound[] | null {
  const closedThrough = closure?.lastRound ?? 0n;
  const from =
    Number(
      settledThroughRound !== null && settledThroughRound > closedThrough
        ? settledThroughRound
        : closedThrough,
    ) + 1;
  const rounds: WorkedRound[] = [];
  const known = new Map(activity.recentRounds.map(({ roundId, workUnits }) => [roundId, workUnits]));
  if (openRound - from > known.size) return null;
  for (let roundId = from; roundId < openRound; roundId++) {
    const workUnits = known.get(roundId);
    if (workUnits === undefined) return null;
    rounds.push({ roundId: BigInt(roundId), workUnits });
  }
  if (openRound >= from) rounds.push({ roundId: BigInt(openRound), workUnits: activity.openRoundWorkUnits });
  return rounds;
}

function projectedView({ anchor, configuration }: Buffer, rounds: readonly WorkedRound[]): ProjectedView {
  const frontier = frontierView(projected(anchor, rounds, configuration));
  return { ...frontier, ...completedOf(frontier.blockHeight - anchor.blockHeight, frontier.blockHeight) };
}

function submissionView(submission: Submission): SubmissionView {
  const { expected, settledThroughRound, machine: _machine, ...rest } = submission;
  const { completedBlockCount, ...sums } = expected;
  const lifecycle = lifecycleOf(submission);
  const frontier = frontierView({ ...sums, settledThroughRound });
  return {
    ...rest,
    lifecycle,
    settledThroughRound,
    roundCount: settledThroughRound - submission.previousSettledThroughRound,
    expected: {
      ...frontier,
      confirmedAtMs: submission.confirmedAtMs,
      transactionHash: submission.confirmedAtMs === null ? null : submission.transactionHash,
      ...completedOf(completedBlockCount, frontier.blockHeight),
    },
    outcomeCode: lifecycle === 'reverted' || lifecycle === 'superseded' ? lifecycle : null,
  };
}

/** The bounds exist exactly when blocks are completed, and end at the height (document 1, cross-field rule 1). */
function completedOf(completedBlockCount: bigint, blockHeight: bigint) {
  const isAny = completedBlockCount > 0n;
  return {
    completedBlockCount,
    firstCompletedBlock: isAny ? blockHeight - completedBlockCount + 1n : null,
    lastCompletedBlock: isAny ? blockHeight : null,
  };
}

function frontierOf(core: ChainState['core']): FrontierView {
  return frontierView(core);
}

function frontierView(frontier: Frontier): FrontierView {
  const { settledThroughRound, cumulativeWork, cumulativeBlockUnits, workPerThousandBlocks } = frontier;
  return {
    settledThroughRound,
    cumulativeWork,
    cumulativeBlockUnits,
    workPerThousandBlocks,
    blockHeight: blocksOf(cumulativeBlockUnits),
    blockProgress: cumulativeBlockUnits % blockUnitsPerBlock,
  };
}

function workOf(rounds: readonly WorkedRound[]): bigint {
  return rounds.reduce((sum, { workUnits }) => sum + workUnits, 0n);
}
