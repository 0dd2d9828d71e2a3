import { z } from 'zod';
import {
  type BuilderView,
  builderUnavailableReasons,
  type MeasurementView,
  type OracleView,
  oracleStates,
  type ProcessView,
  queueUnavailableReasons,
  type SettlementQueueView,
  stalenessSeconds,
} from '../../actors/views.ts';
import {
  coreStatus,
  decimal,
  installationId,
  isoOf,
  isoOrNull,
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

/** [A] does not list `round_ineligible`, and says `round_projection_gap` instead (design, section 3). */
const processBuilderReasons = builderUnavailableReasons.filter((reason) => reason !== 'round_ineligible');

const processBuilder = z
  .strictObject({ status: z.literal('unavailable'), reason: z.enum(processBuilderReasons) })
  .meta({ id: 'ProcessBuilder' });

export const builder = z
  .strictObject({ status: z.literal('unavailable'), reason: z.enum(builderUnavailableReasons) })
  .meta({ id: 'Builder' });

export const oracle = z
  .strictObject({
    state: z.enum(oracleStates),
    reason: z.string().nullable(),
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

export const settlementQueue = z
  .strictObject({ status: z.literal('unavailable'), reason: z.enum(queueUnavailableReasons) })
  .meta({ id: 'SettlementQueue' });

export const processResponse = z
  .strictObject({
    schemaVersion: z.literal(4),
    installationId,
    revision: z.string().meta({ description: 'Opaque; does not change with generatedAt alone' }),
    generatedAt: timestamp,
    measurement: measurementUint64.nullable(),
    builder: processBuilder,
    oracle,
    settlementQueue,
  })
  .meta({ id: 'Process', description: 'Process snapshot' });

export type ProcessResponse = z.infer<typeof processResponse>;

export function processBody(view: ProcessView): ProcessResponse {
  return {
    schemaVersion: 4,
    installationId: view.installationId,
    revision: view.revision,
    generatedAt: isoOf(view.generatedAtMs),
    measurement: isUint64(view.measurement) ? measurementBody(view.measurement) : null,
    builder: processBuilderBody(view.builder),
    oracle: oracleBody(view.oracle),
    settlementQueue: queueBody(view.settlementQueue),
  };
}

/** A counter above 2^64 - 1 cannot be shown in [A] process, and is null there rather than a wrong number. */
function isUint64(measurement: MeasurementView | null): measurement is MeasurementView {
  return measurement !== null && measurement.reading.cumulativeWorkUnits <= uint64Max;
}

export function measurementBody({ freshness, reading }: MeasurementView): z.infer<typeof measurement> {
  return {
    freshness,
    observedAt: isoOf(reading.observedAtMs),
    receivedAt: isoOf(reading.receivedAtMs),
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

function processBuilderBody({ status, reason }: BuilderView): ProcessResponse['builder'] {
  return { status, reason: reason === 'round_ineligible' ? 'round_projection_gap' : reason };
}

export function oracleBody(view: OracleView): z.infer<typeof oracle> {
  const { latestClosure } = view;
  return {
    state: view.state,
    reason: view.reason,
    latestAcceptedAt: isoOrNull(view.latestAcceptedAtMs),
    latestClosure:
      latestClosure === null
        ? null
        : {
            firstRound: latestClosure.firstRound.toString(),
            lastRound: latestClosure.lastRound.toString(),
            roundCount: (latestClosure.lastRound - latestClosure.firstRound + 1n).toString(),
            acceptedAt: isoOf(latestClosure.acceptedAtMs),
          },
  };
}

export function queueBody({ status, reason }: SettlementQueueView): z.infer<typeof settlementQueue> {
  return { status, reason };
}
