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
  coreStatus,
  decimal,
  installationId,
  provenance,
  safeCount,
  timestamp,
  uint64Decimal,
  uint64Max,
  uuid,
} from './scalars.ts';

const measurementMembers = {
  freshness: z.enum(['online', 'stale']),
  observedAt: timestamp,
  receivedAt: timestamp,
  staleAfterSeconds: z.literal(stalenessSeconds),
  counterEpoch: uuid,
  provenance,
  coreStatus,
  rpmMilli: safeCount,
  speedMmPerSecond: safeCount,
  distanceMm: safeCount.meta({
    description: 'Distance that the device reports for its current universal day',
  }),
};

export const measurement = z
  .strictObject({ ...measurementMembers, cumulativeWorkUnits: decimal })
  .meta({ id: 'Measurement' });

const measurementUint64 = z
  .strictObject({ ...measurementMembers, cumulativeWorkUnits: uint64Decimal })
  .meta({ id: 'MeasurementUint64' });

/** The public route does not list `round_ineligible`, and says `round_projection_gap` instead (CONTRACT.md, Builder). */
const processBuilderReasons = builderUnavailableReasons.filter((reason) => reason !== 'round_ineligible');

const completed = {
  firstCompletedBlock: uint64Decimal.nullable(),
  lastCompletedBlock: uint64Decimal.nullable(),
  completedBlockCount: uint64Decimal,
};

const settledBy = { confirmedAt: timestamp.nullable(), transactionHash: bytes32.nullable() };

/** The core's sums on public routes: the next block's work in work units. */
const publicSums = {
  cumulativeWork: decimal,
  blockHeight: uint64Decimal,
  currentWork: uint64Decimal.meta({ description: 'Work into the next block; below workPerBlock' }),
  workPerBlock: uint64Decimal.regex(/^[1-9]/).meta({ description: 'Above zero' }),
};

/** The same on plain routes: block units and the exact difficulty. */
const plainSums = {
  cumulativeWork: decimal,
  cumulativeBlockUnits: decimal,
  blockHeight: uint64Decimal,
  blockProgress: uint64Decimal,
  workPerThousandBlocks: decimal,
};

const lifecycle = { lifecycle: z.literal('optimistic') };
const publicProjected = z
  .strictObject({ ...lifecycle, ...publicSums, ...completed })
  .meta({ id: 'PublicProjected' });
const plainProjected = z.strictObject({ ...lifecycle, ...plainSums, ...completed }).meta({ id: 'Projected' });
const publicAnchorMembers = { settledThroughRound: uint64Decimal, ...publicSums, ...settledBy };
const plainAnchorMembers = { settledThroughRound: uint64Decimal, ...plainSums, ...settledBy };

const queued = z.strictObject({
  closedRoundCount: uint64Decimal,
  closedWorkUnits: decimal,
  openRoundWorkUnits: decimal,
});

function defineBuilder<Anchor extends z.ZodRawShape, Projected extends z.ZodType, Reason extends string>(
  anchor: Anchor,
  projected: Projected,
  reasons: readonly Reason[],
) {
  return z.discriminatedUnion('status', [
    z.strictObject({ status: z.literal('available'), anchor: z.strictObject(anchor), queued, projected }),
    z.strictObject({ status: z.literal('unavailable'), reason: z.enum(reasons) }),
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
    state: z.enum(oracleStates),
    reason: text.nullable(),
    latestAcceptedAt: timestamp.nullable(),
    latestClosure: z
      .strictObject({
        firstRound: uint64Decimal,
        lastRound: uint64Decimal,
        roundCount: uint64Decimal,
        acceptedAt: timestamp,
      })
      .nullable(),
  })
  .meta({ id: 'Oracle' });

function defineQueue<Anchor extends z.ZodRawShape, Projected extends z.ZodType>(
  anchor: Anchor,
  projected: Projected,
) {
  return z.discriminatedUnion('status', [
    z.strictObject({
      status: z.literal('available'),
      state: z.enum(settlementQueueStates),
      settlementEnabled: z.boolean(),
      reporterEnvironmentEnabled: z.boolean(),
      buffered: z.strictObject({
        firstRound: uint64Decimal.nullable(),
        lastRound: uint64Decimal.nullable(),
        roundCount: uint64Decimal,
        activeRoundCount: uint64Decimal,
        workUnits: decimal,
      }),
      projected,
      incidentOpen: z.boolean(),
      blockedReason: z.enum(blockedReasons).nullable(),
      lastRun: z.strictObject({ startedAt: timestamp, finishedAt: timestamp, result: text }).nullable(),
      latestSubmission: z
        .strictObject({
          submissionId: uuid,
          lifecycle: z.enum(submissionLifecycles),
          previousSettledThroughRound: uint64Decimal,
          settledThroughRound: uint64Decimal,
          roundCount: uint64Decimal,
          activeRoundCount: z
            .string()
            .regex(/^(?:[0-9]|1[0-6])$/)
            .meta({ description: 'Decimal from 0 to 16' }),
          expected: z.strictObject({ ...anchor, ...completed }),
          transactionHash: bytes32.nullable(),
          createdAt: timestamp,
          submittedAt: timestamp.nullable(),
          confirmedAt: timestamp.nullable(),
          terminalAt: timestamp.nullable(),
          changedAt: timestamp,
          outcomeCode: z
            .string()
            .regex(/^(?:reverted|superseded)$/)
            .nullable(),
        })
        .nullable(),
    }),
    z.strictObject({ status: z.literal('unavailable'), reason: z.enum(queueUnavailableReasons) }),
  ]);
}

export const processQueue = defineQueue(publicAnchorMembers, publicProjected).meta({ id: 'ProcessQueue' });
export const settlementQueue = defineQueue(plainAnchorMembers, plainProjected).meta({
  id: 'SettlementQueue',
});

export const processResponse = z
  .strictObject({
    schemaVersion: z.literal(4),
    installationId,
    revision: text.meta({ description: 'Opaque; does not change with generatedAt alone' }),
    generatedAt: timestamp,
    measurement: measurementUint64.nullable(),
    builder: processBuilder,
    oracle,
    settlementQueue: processQueue,
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
