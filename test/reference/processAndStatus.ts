import { isCovering, observeRounds, type Reading } from './acceptedReadings.ts';
import type { readModules, readSigner } from './device.ts';
import { findFreshness } from './measuredTelemetry.ts';
import { roundMs, sum, toIso, uint64Max, uint256Max } from './messages.ts';
import type { CoreState } from './readCore.ts';
import type { Settlement, Submission } from './settlement.ts';
import {
  blockUnitsPerBlock,
  type CoreSums,
  describeCompleted,
  findHeight,
  isWithinBounds,
  max,
  measureBlocks,
  min,
  settleRounds,
} from './workToBlocks.ts';

/** CONTRACT.md, Process: builder, oracle and settlement queue. */

export interface ProcessInput {
  readonly genesisMs: number;
  /** Accepted readings of the installation. */
  readonly readings: readonly Reading[];
  readonly settlement: Settlement;
  /** Null while the chain is not available. */
  readonly core: CoreState | null;
  readonly signer: ReturnType<typeof readSigner>;
  readonly modules: ReturnType<typeof readModules>;
  readonly nowMs: number;
}

export function measureStatus(input: ProcessInput) {
  const { nowMs, signer, modules } = input;
  return {
    generatedAt: toIso(nowMs),
    measurement: measureReading(input),
    builder: measureBuilder(input),
    oracle: measureOracle(input),
    settlementQueue: measureQueue(input),
    signer,
    modules,
  };
}

/** The public route. */
export function measureProcess(input: ProcessInput) {
  const { measurement, builder, ...others } = measureStatus(input);
  const isIneligible = 'reason' in builder && builder.reason === 'round_ineligible';
  return {
    ...others,
    // A counter above 2^64 - 1 cannot be shown here.
    measurement: (measurement?.cumulativeWorkUnits ?? 0n) > uint64Max ? null : measurement,
    builder: isIneligible ? unavailable('round_projection_gap') : builder,
  };
}

function measureReading({ readings, nowMs }: ProcessInput) {
  const reading = readings.at(-1);
  if (reading === undefined) return null;
  return {
    freshness: findFreshness(reading, nowMs),
    observedAt: toIso(reading.observedAtMs),
    receivedAt: toIso(reading.receivedAtMs),
    ...reading,
  };
}

function measureOracle({ settlement, nowMs }: ProcessInput) {
  const { closure } = settlement;
  const acceptedAt = closure === null ? null : toIso(closure.acceptedAtMs);
  return {
    state: findOracleState(settlement, nowMs),
    latestAcceptedAt: acceptedAt,
    latestClosure: closure && {
      ...closure,
      roundCount: closure.lastRound - closure.firstRound + 1n,
      acceptedAt,
    },
  };
}

/** CONTRACT.md, Oracle state. */
export function findOracleState({ closure, oracleBlockedReason }: Settlement, nowMs: number) {
  if (closure === null) return 'unavailable';
  if (oracleBlockedReason !== null) return 'blocked';
  return nowMs - closure.acceptedAtMs > 1_200_000 ? 'stale' : 'accepted';
}

/** The first reason against settling; null if it is possible. */
export function findBlockedReason({ openIncidents, oracleBlockedReason }: Settlement, isPaused: boolean) {
  if (openIncidents.size > 0) return 'incident_open';
  if (oracleBlockedReason !== null) return 'oracle_blocked';
  return isPaused ? 'settlement_paused' : null;
}

/** CONTRACT.md, Settlement queue state. */
export function findQueueState(
  settlement: Settlement,
  { isPaused, bufferedCount, nowMs }: { isPaused: boolean; bufferedCount: number; nowMs: number },
) {
  const { lastRun, runUnderWay, submissions } = settlement;
  if (findBlockedReason(settlement, isPaused) !== null) return 'blocked';
  if (!settlement.settlementEnabled) return 'disabled';
  if (lastRun === null || nowMs - lastRun.finishedAtMs > 600_000 || runUnderWay !== null) return 'stale';
  const latest = submissions.at(-1);
  // A submission without a terminal state is under way.
  if (latest?.terminalAtMs === null) return latest.lifecycle;
  return bufferedCount > 0 ? 'ready' : 'empty';
}

/** The round that holds a time; 0 and below before the genesis. */
const findRound = (timeMs: number, genesisMs: number) =>
  BigInt(Math.floor((timeMs - genesisMs) / roundMs) + 1);

/** The last closed round that has ended. A round that a fast clock closed too early counts as open until its end. */
function findClosedThrough({ settlement, core, genesisMs, nowMs }: ProcessInput): bigint {
  const closed = settlement.closure?.lastRound ?? 0n;
  // Rounds that the core has settled have ended.
  const ended = max(findRound(nowMs, genesisMs) - 1n, core?.settledThroughRound ?? 0n);
  return min(closed, ended);
}

type QueueReason = 'oracle_head_unavailable' | 'round_projection_gap' | 'round_ineligible';

/** Works of the closed rounds above the settled frontier; otherwise why they cannot be projected. */
function findBuffered(
  input: ProcessInput,
): { core: CoreState; works: readonly bigint[]; sums: CoreSums } | QueueReason {
  const { settlement, core } = input;
  if (settlement.closure === null) return 'oracle_head_unavailable';
  if (core === null || !isWithinBounds(core)) return 'round_projection_gap';
  if (settlement.closure.lastRound < core.settledThroughRound) return 'round_projection_gap';
  const works: bigint[] = [];
  for (let round = core.settledThroughRound + 1n; round <= findClosedThrough(input); round++) {
    const work = settlement.closedRounds.get(round);
    if (work === undefined) return 'round_projection_gap';
    works.push(work);
  }
  const sums = project(core, works);
  return sums === null ? 'round_ineligible' : { core, works, sums };
}

/** The core's sums after further rounds; null if it would refuse one of them. */
function project(core: CoreState, works: readonly bigint[]): CoreSums | null {
  const { maxWorkPerRound } = core.configuration;
  // A round's work is multiplied by 10^12 within 256 bits.
  if (works.some((work) => work > maxWorkPerRound || work * blockUnitsPerBlock * 1000n > uint256Max))
    return null;
  const sums = settleRounds(core, works, core.configuration);
  return isWithinBounds(sums) ? sums : null;
}

const unavailable = (reason: string) => ({ status: 'unavailable', reason });

/** CONTRACT.md, Builder: the reasons in their order, then closed and open work. */
function measureBuilder(input: ProcessInput) {
  const reading = input.readings.at(-1);
  if (reading === undefined) return unavailable('no_measurement');
  if (reading.coreStatus === 'COUNTER_FAULT') return unavailable('counter_fault');
  if (!input.settlement.approvedEpochs.includes(reading.counterEpoch))
    return unavailable('counter_epoch_unapproved');
  const buffered = findBuffered(input);
  if (buffered === 'oracle_head_unavailable' || buffered === 'round_projection_gap')
    return unavailable(buffered);
  const open = findOpenWorks(input, reading);
  if (open === null) return unavailable('round_projection_gap');
  if (buffered === 'round_ineligible') return unavailable(buffered);
  const { core, works } = buffered;
  const sums = project(core, [...works, ...open]);
  if (sums === null) return unavailable('round_ineligible');
  const last = core.batches.at(-1);
  return {
    status: 'available',
    anchor: {
      ...measureSums(core),
      settledThroughRound: core.settledThroughRound,
      confirmedAt: last === undefined ? null : last.place.blockTimestamp,
    },
    queued: {
      closedRoundCount: String(works.length),
      closedWorkUnits: sum(works),
      openRoundWorkUnits: sum(open),
    },
    projected: measureProjected(core, sums),
  };
}

const measureSums = ({ cumulativeWork, cumulativeBlockUnits, workPerThousandBlocks }: CoreSums) => {
  const sums = { cumulativeWork, cumulativeBlockUnits, workPerThousandBlocks };
  return { ...sums, ...measureBlocks(sums) };
};

function measureProjected(core: CoreState, sums: CoreSums) {
  const completed = describeCompleted(findHeight(sums) - findHeight(core), findHeight(sums));
  return { ...measureSums(sums), ...completed };
}

/** Work of each round after the last closed round, through the newest reading's; null if an earlier one is not observed. */
function findOpenWorks(input: ProcessInput, reading: Reading): bigint[] | null {
  const { readings, genesisMs, core } = input;
  const newest = findRound(reading.observedAtMs, genesisMs);
  const observed = observeRounds(readings, genesisMs);
  const works: bigint[] = [];
  const from = max(findClosedThrough(input), core?.settledThroughRound ?? 0n) + 1n;
  for (let round = from; round <= newest; round++) {
    const start = genesisMs + Number(round - 1n) * roundMs;
    const work = round === newest ? measureRound(readings, start) : observed.get(start);
    if (work === undefined) return null;
    works.push(work);
  }
  return works;
}

/** Work measured so far in a round. */
function measureRound(readings: readonly Reading[], start: number): bigint {
  let work = 0n;
  readings.forEach((reading, index) => {
    const before = readings[index - 1];
    const isInRound = reading.observedAtMs >= start && reading.observedAtMs < start + roundMs;
    if (before !== undefined && isInRound && isCovering(before, reading))
      work += reading.cumulativeWorkUnits - before.cumulativeWorkUnits;
  });
  return work;
}

/** CONTRACT.md, Settlement queue state. */
export function measureQueue(input: ProcessInput) {
  const buffered = findBuffered(input);
  if (typeof buffered === 'string') return unavailable(buffered);
  const { settlement, nowMs } = input;
  const { settlementEnabled, reporterEnvironmentEnabled } = settlement;
  if (settlementEnabled === null || reporterEnvironmentEnabled === null)
    return unavailable('oracle_head_unavailable');
  const { core, works, sums } = buffered;
  const { lastRun } = settlement;
  const latest = settlement.submissions.at(-1) ?? null;
  const isAny = works.length > 0;
  return {
    status: 'available',
    state: findQueueState(settlement, { isPaused: core.paused, bufferedCount: works.length, nowMs }),
    buffered: {
      firstRound: isAny ? core.settledThroughRound + 1n : null,
      lastRound: isAny ? core.settledThroughRound + BigInt(works.length) : null,
      roundCount: String(works.length),
      activeRoundCount: String(works.filter((work) => work > 0n).length),
      workUnits: sum(works),
    },
    projected: measureProjected(core, sums),
    blockedReason: findBlockedReason(settlement, core.paused),
    lastRun: lastRun && {
      startedAt: toIso(lastRun.startedAtMs),
      finishedAt: toIso(lastRun.finishedAtMs),
    },
    latestSubmission: latest === null ? null : measureSubmission(latest),
  };
}

/** CONTRACT.md, Submission lifecycle. */
function measureSubmission(submission: Submission) {
  const { lifecycle, previousSettledThroughRound, settledThroughRound, expected } = submission;
  const toIsoOrNull = (timeMs: number | null) => (timeMs === null ? null : toIso(timeMs));
  const confirmedAt = lifecycle === 'confirmed' ? toIsoOrNull(submission.terminalAtMs) : null;
  return {
    submissionId: submission.submissionId,
    lifecycle,
    previousSettledThroughRound,
    settledThroughRound,
    roundCount: settledThroughRound - previousSettledThroughRound,
    activeRoundCount: String(submission.activeRoundCount),
    expected: {
      settledThroughRound,
      ...measureSums(expected),
      // Only a confirmed submission has an anchor.
      confirmedAt,
      ...describeCompleted(expected.completedBlockCount, findHeight(expected)),
    },
    createdAt: toIso(submission.createdAtMs),
    submittedAt: toIsoOrNull(submission.submittedAtMs),
    confirmedAt,
    terminalAt: toIsoOrNull(submission.terminalAtMs),
    changedAt: toIso(submission.changedAtMs),
  };
}
