import type { List } from 'immutable';
import { requireValue } from '../../machines/requireValue.ts';
import type { ClosedRound } from '../../machines/settlementEvents.ts';
import { findSubmissionLifecycle, type SettlementSnapshot } from '../../machines/settlementMachine.ts';
import type { Submission } from '../../machines/submission.ts';
import { blockUnitsPerBlock, countWholeBlocks } from '../chain/state/blockUnits.ts';
import type { ChainState } from '../chain/state/chainState.ts';
import { type Frontier, projectFrontier, type WorkedRound } from '../chain/state/settlementArithmetic.ts';
import { findFirstIndex } from '../events/findFirstIndex.ts';
import { isWithinBounds, roundWorkMax } from '../settlement/coreBounds.ts';
import { findOracleState } from '../settlement/oracleState.ts';
import { findBlockedReason, findQueueState } from '../settlement/queueState.ts';
import type { Settlement } from '../settlement/settlementActor.ts';
import type { CounterReading } from '../wheel/counterReading.ts';
import { type DayHistory, findRoundWork } from '../wheel/dayHistory.ts';
import { findRound, roundMs } from '../wheel/roundFold.ts';

/** The newest accepted reading and its freshness. */
export interface MeasurementView {
  readonly freshness: 'online' | 'stale';
  readonly reading: CounterReading;
}

interface ProcessSources {
  readonly measurement: MeasurementView | null;
  /** Null without any accepted reading. */
  readonly rounds: MeasuredRounds | null;
  readonly settlement: Settlement;
  /** The newest safe state; null before the first. */
  readonly chain: ChainState | null;
  readonly genesisMs: number;
  readonly nowMs: number;
}

interface MeasuredRounds {
  readonly history: DayHistory;
  /** Work so far of the round that holds the newest reading. */
  readonly openWorkUnits: bigint;
}

/** Why closed rounds cannot be projected; the first that applies is shown. */
export const queueUnavailableReasons = [
  'oracle_head_unavailable',
  'round_projection_gap',
  'round_ineligible',
] as const;
type QueueUnavailableReason = (typeof queueUnavailableReasons)[number];
export const builderUnavailableReasons = [
  'no_measurement',
  'counter_fault',
  'counter_epoch_unapproved',
  ...queueUnavailableReasons,
] as const;

/** Rounds, oracle and settlement, as the process snapshot and the status show them. */
type ProcessProjection = ReturnType<typeof projectProcess>;
export type OracleView = ProcessProjection['oracle'];
export type SettlementQueueView = ProcessProjection['settlementQueue'];
export type BuilderView = ProcessProjection['builder'];
export type SubmissionView = ReturnType<typeof buildSubmissionView>;
/** The core's sums through a settled or projected round. */
export type FrontierView = ReturnType<typeof buildFrontierView>;
export type CompletedBlocks = ReturnType<typeof describeCompleted>;

/** The settled frontier of the safe chain view, with the settlement that reached it. Both members are null before the first settlement. */
export interface AnchorView extends FrontierView {
  readonly confirmedAtMs: number | null;
  readonly transactionHash: string | null;
}

export interface ProjectedView extends FrontierView, CompletedBlocks {}

type Configuration = NonNullable<ChainState['core']['configuration']>;

/** The settled frontier and the closed rounds above it. */
interface Buffer {
  readonly anchor: AnchorView;
  readonly configuration: Configuration;
  readonly rounds: readonly ClosedRound[];
  /** The frontier once all rounds are settled. */
  readonly projected: ProjectedView;
}

export function projectProcess(sources: ProcessSources) {
  const buffer = projectBuffer(sources);
  return {
    oracle: projectOracle(sources),
    settlementQueue: projectQueue(sources, buffer),
    builder: projectBuilder(sources, buffer),
  };
}

function projectOracle({ settlement, nowMs }: ProcessSources) {
  const { closure, blockedReason } = settlement.snapshot.context;
  const state = findOracleState(settlement.snapshot, nowMs);
  const reasons = { accepted: null, stale: null, blocked: blockedReason, unavailable: 'no_closure' };
  return {
    state,
    reason: reasons[state],
    /** Null exactly when the state is unavailable. */
    latestAcceptedAtMs: closure?.acceptedAtMs ?? null,
    latestClosure: closure,
  };
}

/** The closed rounds above the settled frontier, or the first reason why they cannot be projected. */
function projectBuffer(sources: ProcessSources): Buffer | QueueUnavailableReason {
  const { snapshot, closedRounds } = sources.settlement;
  const { closure } = snapshot.context;
  if (closure === null) return 'oracle_head_unavailable';
  const configuration = sources.chain?.core.configuration ?? null;
  if (sources.chain === null || configuration === null) return 'round_projection_gap';
  const { core, settlements } = sources.chain;
  // A frontier whose sums no route can show is no basis for a projection.
  if (!isWithinBounds(core)) return 'round_projection_gap';
  const through = findCountedThrough(sources, core.settledThroughRound);
  const rounds = listRoundsAbove(closedRounds, core.settledThroughRound).filter(
    ({ roundId }) => roundId <= through,
  );
  const isContinuous = BigInt(rounds.length) === through - core.settledThroughRound;
  if (!isContinuous) return 'round_projection_gap';
  if (!rounds.every((round) => isEligible(round, configuration))) return 'round_ineligible';
  const last = settlements.last();
  const anchor = {
    ...buildFrontierView(core),
    confirmedAtMs: last?.source.blockTimestampMs ?? null,
    transactionHash: last?.source.transactionHash ?? null,
  };
  const projected = projectFrontierView(anchor, rounds, configuration);
  return projected === null ? 'round_ineligible' : { configuration, rounds, anchor, projected };
}

/**
 * The last closed round that has ended. An oracle whose clock is ahead closes rounds early, but the core settles no round before its
 * end. A settled round has therefore ended, even if this service's clock is behind.
 */
function findCountedThrough(
  { settlement, genesisMs, nowMs }: ProcessSources,
  settledThroughRound: bigint,
): bigint {
  const closedThrough = settlement.snapshot.context.closure?.lastRound ?? 0n;
  const endedThrough = max(BigInt(findRound(nowMs, genesisMs) - 1), settledThroughRound);
  return closedThrough < endedThrough ? closedThrough : endedThrough;
}

/** Whether the core can settle a round: its configuration allows the work, and its arithmetic holds it. */
function isEligible({ workUnits }: WorkedRound, { maxWorkPerRound }: Configuration): boolean {
  return workUnits <= maxWorkPerRound && workUnits <= roundWorkMax;
}

function listRoundsAbove(rounds: List<ClosedRound>, frontier: bigint): readonly ClosedRound[] {
  return rounds.slice(findIndexAbove(rounds, frontier)).toArray();
}

export function hasRound(rounds: List<ClosedRound>, roundId: bigint): boolean {
  return rounds.get(findIndexAbove(rounds, roundId - 1n))?.roundId === roundId;
}

function findIndexAbove(rounds: List<ClosedRound>, frontier: bigint): number {
  return findFirstIndex(rounds.size, (index) => (rounds.get(index) as ClosedRound).roundId > frontier);
}

function projectQueue(sources: ProcessSources, buffer: Buffer | QueueUnavailableReason) {
  if (typeof buffer === 'string') return unavailable(buffer);
  const { snapshot } = sources.settlement;
  const { lastRun, settlementEnabled, reporterEnvironmentEnabled, submission } = snapshot.context;
  // An unknown setting does not mean `disabled`.
  if (settlementEnabled === null || reporterEnvironmentEnabled === null)
    return unavailable('oracle_head_unavailable');
  const { rounds } = buffer;
  const queue = {
    snapshot,
    isPaused: sources.chain?.core.paused ?? false,
    bufferedRoundCount: rounds.length,
    nowMs: sources.nowMs,
  };
  return {
    status: 'available' as const,
    state: findQueueState(queue),
    settlementEnabled,
    reporterEnvironmentEnabled,
    /** Closed rounds above the settled frontier. */
    buffered: {
      firstRound: rounds[0]?.roundId ?? null,
      lastRound: rounds.at(-1)?.roundId ?? null,
      roundCount: BigInt(rounds.length),
      activeRoundCount: BigInt(rounds.filter(({ workUnits }) => workUnits > 0n).length),
      workUnits: sumWork(rounds),
    },
    projected: buffer.projected,
    incidentOpen: snapshot.matches({ incidents: 'someOpen' }),
    blockedReason: findBlockedReason(queue),
    lastRun,
    /** Null before any submission was prepared. */
    latestSubmission: submission && buildSubmissionView(snapshot, submission),
  };
}

/** Closed and open work, projected on the settled frontier, or the first reason why it cannot be projected. */
function projectBuilder(sources: ProcessSources, buffer: Buffer | QueueUnavailableReason) {
  const { measurement, rounds: measured, settlement } = sources;
  if (measurement === null || measured === null) return unavailable('no_measurement');
  const { reading } = measurement;
  if (reading.coreStatus === 'COUNTER_FAULT') return unavailable('counter_fault');
  if (!settlement.snapshot.context.approvedEpochs.includes(reading.counterEpoch)) {
    return unavailable('counter_epoch_unapproved');
  }
  // A gap after the last closure takes precedence over an ineligible round.
  const open = listOpenRounds(measured, reading, sources);
  if (typeof buffer === 'string') {
    const isGap = buffer === 'round_ineligible' && open === null;
    return unavailable(isGap ? 'round_projection_gap' : buffer);
  }
  if (open === null) return unavailable('round_projection_gap');
  const { rounds, configuration, anchor } = buffer;
  const isEveryEligible = open.every((round) => isEligible(round, configuration));
  const projected = isEveryEligible ? projectFrontierView(anchor, [...rounds, ...open], configuration) : null;
  if (projected === null) return unavailable('round_ineligible');
  return {
    status: 'available' as const,
    anchor,
    queued: {
      closedRoundCount: BigInt(rounds.length),
      closedWorkUnits: sumWork(rounds),
      openRoundWorkUnits: sumWork(open),
    },
    projected,
  };
}

/**
 * Rounds from the last closed round that has ended (exclusive) through the round of the newest reading. The last one holds the work
 * measured so far. Null if a round before it was not observed, or is older than the days with single rounds.
 */
function listOpenRounds(
  { history, openWorkUnits }: MeasuredRounds,
  reading: CounterReading,
  sources: ProcessSources,
): WorkedRound[] | null {
  const settledThroughRound = sources.chain?.core.settledThroughRound ?? 0n;
  const closedThrough = max(findCountedThrough(sources, settledThroughRound), settledThroughRound);
  const openRound = findRound(reading.observedAtMs, sources.genesisMs);
  const from = Number(closedThrough) + 1;
  const rounds: WorkedRound[] = [];
  for (let roundId = from; roundId < openRound; roundId++) {
    const workUnits = findRoundWork(history, sources.genesisMs + (roundId - 1) * roundMs);
    if (workUnits === undefined) return null;
    rounds.push({ roundId: BigInt(roundId), workUnits });
  }
  if (openRound >= from) rounds.push({ roundId: BigInt(openRound), workUnits: openWorkUnits });
  return rounds;
}

/** Null if the sums exceed the core's bounds, since the core would refuse to settle them. */
function projectFrontierView(
  anchor: AnchorView,
  rounds: readonly WorkedRound[],
  configuration: Configuration,
): ProjectedView | null {
  const reached = projectFrontier(anchor, rounds, configuration);
  if (!isWithinBounds(reached)) return null;
  const frontier = buildFrontierView(reached);
  return {
    ...frontier,
    ...describeCompleted(frontier.blockHeight - anchor.blockHeight, frontier.blockHeight),
  };
}

function buildSubmissionView(snapshot: SettlementSnapshot, submission: Submission) {
  const lifecycle = requireValue(findSubmissionLifecycle(snapshot), 'the lifecycle of a submission');
  const { expected, settledThroughRound, ...rest } = submission;
  const { completedBlockCount, ...sums } = expected;
  const frontier = buildFrontierView({ ...sums, settledThroughRound });
  return {
    ...rest,
    lifecycle,
    settledThroughRound,
    roundCount: settledThroughRound - submission.previousSettledThroughRound,
    expected: {
      ...frontier,
      confirmedAtMs: submission.confirmedAtMs,
      transactionHash: submission.confirmedAtMs === null ? null : submission.transactionHash,
      ...describeCompleted(completedBlockCount, frontier.blockHeight),
    },
    outcomeCode: lifecycle === 'reverted' || lifecycle === 'superseded' ? lifecycle : null,
  };
}

/** Completed work blocks. The bounds exist exactly when blocks are completed, and end at the height. */
function describeCompleted(completedBlockCount: bigint, blockHeight: bigint) {
  const isAny = completedBlockCount > 0n;
  return {
    completedBlockCount,
    firstCompletedBlock: isAny ? blockHeight - completedBlockCount + 1n : null,
    lastCompletedBlock: isAny ? blockHeight : null,
  };
}

function buildFrontierView(frontier: Frontier) {
  const { settledThroughRound, cumulativeWork, cumulativeBlockUnits, workPerThousandBlocks } = frontier;
  return {
    settledThroughRound,
    cumulativeWork,
    cumulativeBlockUnits,
    workPerThousandBlocks,
    blockHeight: countWholeBlocks(cumulativeBlockUnits),
    /** Block units of the incomplete work block. */
    blockProgress: cumulativeBlockUnits % blockUnitsPerBlock,
  };
}

const unavailable = <Reason extends string>(reason: Reason) => ({ status: 'unavailable' as const, reason });

function sumWork(rounds: readonly WorkedRound[]): bigint {
  return rounds.reduce((sum, { workUnits }) => sum + workUnits, 0n);
}

function max(a: bigint, b: bigint): bigint {
  return a > b ? a : b;
}
