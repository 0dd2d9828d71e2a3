import { z } from 'zod';
import { blockUnitsPerBlock } from '../../actors/views/chainViewTypes.ts';
import {
  type AnchorView,
  type BuilderView,
  blockedReasons,
  builderUnavailableReasons,
  type CompletedBlocks,
  type FrontierView,
  type MeasurementView,
  type OracleView,
  oracleStates,
  type ProcessView,
  type ProjectedView,
  queueUnavailableReasons,
  type SettlementQueueView,
  type SubmissionView,
  settlementQueueStates,
  stalenessSeconds,
  submissionLifecycles,
} from '../../actors/views/views.ts';
import { bytes32, text } from './chain.ts';
import { toIsoString, toIsoStringOrNull } from './isoTime.ts';
import {
  availableStatus,
  coreStatus,
  decimal,
  generatedAt,
  installationId,
  provenance,
  safeCount,
  schemaVersion,
  timestamp,
  uint64Decimal,
  uint64Max,
  unavailableStatus,
  uuid,
} from './scalars.ts';

const measurementMembers = {
  freshness: z
    .enum(['online', 'stale'])
    .describe(
      '`online` while the newest accepted reading was received at most 120 seconds ago, then `stale`',
    ),
  observedAt: timestamp.describe('When the device took the reading, by its own clock'),
  receivedAt: timestamp.describe('When the gateway received it'),
  staleAfterSeconds: z
    .literal(stalenessSeconds)
    .describe('Seconds after the receipt for which a reading is fresh'),
  counterEpoch: uuid.describe('Period of the counter within which it never falls'),
  provenance: provenance.describe('Where the value comes from'),
  coreStatus: coreStatus.describe('State of the counter, as the device reports it'),
  rpmMilli: safeCount.describe('Speed of rotation in thousandths of revolutions per minute'),
  speedMmPerSecond: safeCount.describe('Speed in millimetres per second'),
  distanceMm: safeCount.meta({
    description: 'Distance that the device reports for its current universal day',
  }),
};

export const measurement = z
  .strictObject({
    ...measurementMembers,
    cumulativeWorkUnits: decimal.describe(
      'Value of the counter in its epoch, in work units; measured, not settled',
    ),
  })
  .meta({ id: 'Measurement' });

const measurementUint64 = z
  .strictObject({
    ...measurementMembers,
    cumulativeWorkUnits: uint64Decimal.describe(
      'Value of the counter in its epoch, in work units; measured, not settled. A larger value than 2^64 - 1 is not shown here: `measurement` is null then',
    ),
  })
  .meta({ id: 'MeasurementUint64' });

/** The public route does not list `round_ineligible`, and says `round_projection_gap` instead (CONTRACT.md, Builder). */
const processBuilderReasons = builderUnavailableReasons.filter((reason) => reason !== 'round_ineligible');

const completed = {
  firstCompletedBlock: uint64Decimal
    .nullable()
    .describe('First work block that is completed; null when none is'),
  lastCompletedBlock: uint64Decimal.nullable().describe('Last one; null when none is completed'),
  completedBlockCount: uint64Decimal.describe('How many work blocks are completed'),
};

const settledBy = {
  confirmedAt: timestamp
    .nullable()
    .describe('Time of the block that holds the settlement; null before the first'),
  transactionHash: bytes32.nullable().describe('Transaction of the settlement; null before the first'),
};

/** The core's sums on public routes: the next block's work in work units. */
const publicSums = {
  cumulativeWork: decimal.describe('All work through this point, in work units'),
  blockHeight: uint64Decimal.describe('Work blocks completed through this point'),
  currentWork: uint64Decimal.meta({ description: 'Work into the next block; below workPerBlock' }),
  workPerBlock: uint64Decimal.regex(/^[1-9]/).meta({ description: 'Above zero' }),
};

/** The same on plain routes: block units and the exact difficulty. */
const plainSums = {
  cumulativeWork: decimal.describe('All work through this point, in work units'),
  cumulativeBlockUnits: decimal.describe(
    'All block units through this point; 1,000,000,000 are one work block',
  ),
  blockHeight: uint64Decimal.describe('Work blocks completed through this point'),
  blockProgress: uint64Decimal.describe('Block units into the next work block, below 1,000,000,000'),
  workPerThousandBlocks: decimal.describe('Difficulty: work units for 1,000 work blocks'),
};

const lifecycle = { lifecycle: z.literal('optimistic').describe('A projection: neither settled nor issued') };
const publicProjected = z
  .strictObject({ ...lifecycle, ...publicSums, ...completed })
  .meta({ id: 'PublicProjected' });
const plainProjected = z.strictObject({ ...lifecycle, ...plainSums, ...completed }).meta({ id: 'Projected' });
const publicAnchorMembers = {
  settledThroughRound: uint64Decimal.describe('Last round that is settled'),
  ...publicSums,
  ...settledBy,
};
const plainAnchorMembers = {
  settledThroughRound: uint64Decimal.describe('Last round that is settled'),
  ...plainSums,
  ...settledBy,
};

const queued = z.strictObject({
  closedRoundCount: uint64Decimal.describe('Closed rounds above the settled frontier'),
  closedWorkUnits: decimal.describe('Their work, in work units'),
  openRoundWorkUnits: decimal.describe(
    'Work of the rounds that are measured and not closed yet, in work units',
  ),
});

function defineBuilder<Anchor extends z.ZodRawShape, Projected extends z.ZodType, Reason extends string>(
  anchor: Anchor,
  projected: Projected,
  reasons: readonly Reason[],
) {
  return z.discriminatedUnion('status', [
    z.strictObject({
      status: availableStatus,
      anchor: z.strictObject(anchor).describe('The settled frontier that the projection begins with'),
      queued: queued.describe('What waits above it'),
      projected: projected.describe('Where the frontier would be if all that waits settled now'),
    }),
    z.strictObject({
      status: unavailableStatus,
      reason: z
        .enum(reasons)
        .describe(
          'Why nothing can be projected: no reading, a counter fault, a counter epoch or closed rounds that the oracle owes, a gap, or a round with more work than the core takes',
        ),
    }),
  ]);
}

const processBuilder = defineBuilder(publicAnchorMembers, publicProjected, processBuilderReasons).meta({
  id: 'ProcessBuilder',
});
export const builder = defineBuilder(plainAnchorMembers, plainProjected, builderUnavailableReasons).meta({
  id: 'Builder',
});

export const oracle = z
  .strictObject({
    state: z
      .enum(oracleStates)
      .describe(
        '`accepted` while it closes rounds, `stale` when it last did so more than 1,200 seconds ago, `blocked` by its own word, `unavailable` before the first closure',
      ),
    reason: text
      .nullable()
      .describe(
        'The oracle’s words while it is blocked, `no_closure` while it is unavailable, null otherwise',
      ),
    latestAcceptedAt: timestamp
      .nullable()
      .describe('When it last closed rounds; null while it is unavailable'),
    latestClosure: z
      .strictObject({
        firstRound: uint64Decimal.describe('First of them'),
        lastRound: uint64Decimal.describe('Last of them'),
        roundCount: uint64Decimal.describe('How many they are'),
        acceptedAt: timestamp.describe('When the oracle accepted their work'),
      })
      .nullable()
      .describe('The rounds that it closed last; null before the first'),
  })
  .meta({ id: 'Oracle' });

function defineQueue<Anchor extends z.ZodRawShape, Projected extends z.ZodType>(
  anchor: Anchor,
  projected: Projected,
) {
  return z.discriminatedUnion('status', [
    z.strictObject({
      status: availableStatus,
      state: z
        .enum(settlementQueueStates)
        .describe(
          'What the queue is doing: the first that holds of blocked, disabled, stale, a submission under way, empty, ready',
        ),
      settlementEnabled: z.boolean().describe('Whether settlement is switched on'),
      reporterEnvironmentEnabled: z
        .boolean()
        .describe('Whether the reporter’s environment allows it to send'),
      buffered: z
        .strictObject({
          firstRound: uint64Decimal.nullable().describe('First of them; null without any'),
          lastRound: uint64Decimal.nullable().describe('Last of them; null without any'),
          roundCount: uint64Decimal.describe('How many they are'),
          activeRoundCount: uint64Decimal.describe('How many of them have work'),
          workUnits: decimal.describe('Their work, in work units'),
        })
        .describe('Closed rounds above the settled frontier'),
      projected: projected.describe('Where the frontier would be if the closed rounds settled now'),
      incidentOpen: z
        .boolean()
        .describe('Whether the reporter has an open incident: nothing is settled meanwhile'),
      blockedReason: z
        .enum(blockedReasons)
        .nullable()
        .describe('Why the queue is blocked; null when it is not'),
      lastRun: z
        .strictObject({
          startedAt: timestamp.describe('When it began'),
          finishedAt: timestamp.describe('When it ended'),
          result: text.describe('How it ended, in the reporter’s word'),
        })
        .nullable()
        .describe('The last completed run of the reporter; null before the first'),
      latestSubmission: z
        .strictObject({
          submissionId: uuid.describe('Names the submission'),
          lifecycle: z
            .enum(submissionLifecycles)
            .describe('How far it has come; `confirmed`, `reverted` and `superseded` are ends'),
          previousSettledThroughRound: uint64Decimal.describe('Last round that was settled before it'),
          settledThroughRound: uint64Decimal.describe('Last round that it settles'),
          roundCount: uint64Decimal.describe('How many rounds it settles'),
          activeRoundCount: z
            .string()
            .regex(/^(?:[0-9]|1[0-6])$/)
            .meta({ description: 'How many of them have work, from 0 to 16', format: 'uint64-decimal' }),
          expected: z
            .strictObject({ ...anchor, ...completed })
            .describe('Where the settled frontier is once it is confirmed'),
          transactionHash: bytes32.nullable().describe('Its transaction; null before it was submitted'),
          createdAt: timestamp.describe('When the reporter prepared it'),
          submittedAt: timestamp.nullable().describe('When its transaction was sent; null before'),
          confirmedAt: timestamp.nullable().describe('When it was confirmed; null otherwise'),
          terminalAt: timestamp.nullable().describe('When it ended; null before'),
          changedAt: timestamp.describe('When its lifecycle last changed'),
          outcomeCode: z
            .string()
            .regex(/^(?:reverted|superseded)$/)
            .nullable()
            .describe('`reverted` or `superseded` for these ends; null otherwise'),
        })
        .nullable()
        .describe('The submission under way, or the last one that ended; null before the first'),
    }),
    z.strictObject({
      status: unavailableStatus,
      reason: z
        .enum(queueUnavailableReasons)
        .describe(
          'Why the queue cannot be shown: the oracle has closed no round, closed rounds leave a gap, or one has more work than the core takes',
        ),
    }),
  ]);
}

export const processQueue = defineQueue(publicAnchorMembers, publicProjected).meta({ id: 'ProcessQueue' });
export const settlementQueue = defineQueue(plainAnchorMembers, plainProjected).meta({
  id: 'SettlementQueue',
});

export const processResponse = z
  .strictObject({
    schemaVersion: schemaVersion(4),
    installationId: installationId.describe('The public installation'),
    revision: text.meta({ description: 'Opaque; does not change with generatedAt alone' }),
    generatedAt,
    measurement: measurementUint64.nullable().describe('The newest accepted reading; null without one'),
    builder: processBuilder.describe('What would settle if all measured work settled now'),
    oracle: oracle.describe('Who closes rounds'),
    settlementQueue: processQueue.describe('What waits for settlement, and what is under way'),
  })
  .meta({ id: 'Process', description: 'Process snapshot' });

export type ProcessResponse = z.infer<typeof processResponse>;

export function toProcessBody(view: ProcessView): ProcessResponse {
  return {
    schemaVersion: 4,
    installationId: view.installationId,
    revision: view.revision,
    generatedAt: toIsoString(view.generatedAtMs),
    measurement: isUint64(view.measurement) ? toMeasurementBody(view.measurement) : null,
    builder: toProcessBuilderBody(view.builder),
    oracle: toOracleBody(view.oracle),
    settlementQueue: toProcessQueueBody(view.settlementQueue),
  };
}

/** A counter above 2^64 - 1 cannot be shown by the public route, and is null there rather than a wrong number. */
function isUint64(measurement: MeasurementView | null): measurement is MeasurementView {
  return measurement !== null && measurement.reading.cumulativeWorkUnits <= uint64Max;
}

export function toMeasurementBody({ freshness, reading }: MeasurementView): z.infer<typeof measurement> {
  return {
    freshness,
    observedAt: toIsoString(reading.observedAtMs),
    receivedAt: toIsoString(reading.receivedAtMs),
    staleAfterSeconds: stalenessSeconds,
    counterEpoch: reading.counterEpoch,
    cumulativeWorkUnits: reading.cumulativeWorkUnits.toString(),
    provenance: reading.provenance,
    coreStatus: reading.coreStatus,
    rpmMilli: reading.rpmMilli,
    speedMmPerSecond: reading.speedMmPerSecond,
    distanceMm: reading.distanceMm,
  };
}

function toProcessBuilderBody(view: BuilderView): z.infer<typeof processBuilder> {
  if (view.status === 'available')
    return { ...toAvailableBuilder(view), ...toFrontiers(view, toPublicFrontier) };
  const { status, reason } = view;
  return { status, reason: reason === 'round_ineligible' ? 'round_projection_gap' : reason };
}

export function toBuilderBody(view: BuilderView): z.infer<typeof builder> {
  return view.status === 'available'
    ? { ...toAvailableBuilder(view), ...toFrontiers(view, toPlainFrontier) }
    : view;
}

type AvailableBuilder = Extract<BuilderView, { status: 'available' }>;
type AvailableQueue = Extract<SettlementQueueView, { status: 'available' }>;

function toAvailableBuilder({
  queued: { closedRoundCount, closedWorkUnits, openRoundWorkUnits },
}: AvailableBuilder) {
  return {
    status: 'available' as const,
    queued: {
      closedRoundCount: closedRoundCount.toString(),
      closedWorkUnits: closedWorkUnits.toString(),
      openRoundWorkUnits: openRoundWorkUnits.toString(),
    },
  };
}

function toFrontiers<Shown>(
  { anchor, projected }: AvailableBuilder,
  sums: (frontier: FrontierView) => Shown,
) {
  return { anchor: toAnchorBody(anchor, sums), projected: toProjectedBody(projected, sums) };
}

function toAnchorBody<Shown>(anchor: AnchorView, sums: (frontier: FrontierView) => Shown) {
  return {
    settledThroughRound: anchor.settledThroughRound.toString(),
    ...sums(anchor),
    confirmedAt: toIsoStringOrNull(anchor.confirmedAtMs),
    transactionHash: anchor.transactionHash,
  };
}

function toProjectedBody<Shown>(projected: ProjectedView, sums: (frontier: FrontierView) => Shown) {
  return { lifecycle: 'optimistic' as const, ...sums(projected), ...toCompletedBody(projected) };
}

function toCompletedBody({ firstCompletedBlock, lastCompletedBlock, completedBlockCount }: CompletedBlocks) {
  return {
    firstCompletedBlock: firstCompletedBlock?.toString() ?? null,
    lastCompletedBlock: lastCompletedBlock?.toString() ?? null,
    completedBlockCount: completedBlockCount.toString(),
  };
}

/** `workPerBlock` is rounded up, and `currentWork` is the progress in its terms (CONTRACT.md, Frontiers). */
function toPublicFrontier({
  cumulativeWork,
  blockHeight,
  blockProgress,
  workPerThousandBlocks,
}: FrontierView) {
  const rounded = (workPerThousandBlocks + 999n) / 1000n;
  const workPerBlock = rounded > 1n ? rounded : 1n;
  return {
    cumulativeWork: cumulativeWork.toString(),
    blockHeight: blockHeight.toString(),
    currentWork: ((blockProgress * workPerBlock) / blockUnitsPerBlock).toString(),
    workPerBlock: workPerBlock.toString(),
  };
}

function toPlainFrontier(frontier: FrontierView) {
  return {
    cumulativeWork: frontier.cumulativeWork.toString(),
    cumulativeBlockUnits: frontier.cumulativeBlockUnits.toString(),
    blockHeight: frontier.blockHeight.toString(),
    blockProgress: frontier.blockProgress.toString(),
    workPerThousandBlocks: frontier.workPerThousandBlocks.toString(),
  };
}

export function toOracleBody(view: OracleView): z.infer<typeof oracle> {
  const { latestClosure } = view;
  return {
    state: view.state,
    reason: view.reason,
    latestAcceptedAt: toIsoStringOrNull(view.latestAcceptedAtMs),
    latestClosure:
      latestClosure === null
        ? null
        : {
            firstRound: latestClosure.firstRound.toString(),
            lastRound: latestClosure.lastRound.toString(),
            roundCount: (latestClosure.lastRound - latestClosure.firstRound + 1n).toString(),
            acceptedAt: toIsoString(latestClosure.acceptedAtMs),
          },
  };
}

export function toProcessQueueBody(view: SettlementQueueView): z.infer<typeof processQueue> {
  return view.status === 'available' ? toAvailableQueue(view, toPublicFrontier) : view;
}

export function toQueueBody(view: SettlementQueueView): z.infer<typeof settlementQueue> {
  return view.status === 'available' ? toAvailableQueue(view, toPlainFrontier) : view;
}

function toAvailableQueue<Shown>(view: AvailableQueue, sums: (frontier: FrontierView) => Shown) {
  const { buffered, lastRun, latestSubmission } = view;
  return {
    status: 'available' as const,
    state: view.state,
    settlementEnabled: view.settlementEnabled,
    reporterEnvironmentEnabled: view.reporterEnvironmentEnabled,
    buffered: {
      firstRound: buffered.firstRound?.toString() ?? null,
      lastRound: buffered.lastRound?.toString() ?? null,
      roundCount: buffered.roundCount.toString(),
      activeRoundCount: buffered.activeRoundCount.toString(),
      workUnits: buffered.workUnits.toString(),
    },
    projected: toProjectedBody(view.projected, sums),
    incidentOpen: view.incidentOpen,
    blockedReason: view.blockedReason,
    lastRun:
      lastRun === null
        ? null
        : {
            startedAt: toIsoString(lastRun.startedAtMs),
            finishedAt: toIsoString(lastRun.finishedAtMs),
            result: lastRun.result,
          },
    latestSubmission: latestSubmission === null ? null : toSubmissionBody(latestSubmission, sums),
  };
}

function toSubmissionBody<Shown>(view: SubmissionView, sums: (frontier: FrontierView) => Shown) {
  return {
    submissionId: view.submissionId,
    lifecycle: view.lifecycle,
    previousSettledThroughRound: view.previousSettledThroughRound.toString(),
    settledThroughRound: view.settledThroughRound.toString(),
    roundCount: view.roundCount.toString(),
    activeRoundCount: String(view.activeRoundCount),
    expected: { ...toAnchorBody(view.expected, sums), ...toCompletedBody(view.expected) },
    transactionHash: view.transactionHash,
    createdAt: toIsoString(view.createdAtMs),
    submittedAt: toIsoStringOrNull(view.submittedAtMs),
    confirmedAt: toIsoStringOrNull(view.confirmedAtMs),
    terminalAt: toIsoStringOrNull(view.terminalAtMs),
    changedAt: toIsoString(view.changedAtMs),
    outcomeCode: view.outcomeCode,
  };
}
