import { createHash } from 'node:crypto';
import type { ChainViews } from './chain/chainViewTypes.ts';
import type { Clock } from './clock.ts';
import type { CounterActors } from './counterActors.ts';
import type { PipelineActors } from './pipelineActors.ts';
import type {
  ActivityViews,
  BuilderView,
  MeasurementView,
  OracleView,
  ProcessView,
  SettlementQueueView,
  TelemetryView,
} from './views.ts';

/** The process snapshot is shared for this long (document 3, Limits). */
const processSharedMs = 1_000;

export interface ActivityViewsParts {
  readonly publicInstallationId: string;
  readonly counters: CounterActors;
  readonly pipeline: PipelineActors;
  readonly chain: ChainViews;
  readonly clock: Clock;
}

/** The views of all actors, as HTTP reads them. */
export function createActivityViews(parts: ActivityViewsParts): ActivityViews {
  const { publicInstallationId, counters, pipeline, clock } = parts;
  let shared: { view: ProcessView; madeAtMs: number; telemetry: TelemetryView } | null = null;

  function process(): ProcessView {
    const nowMs = clock.nowMs();
    const madeAtMs = clock.monotonicMs();
    const telemetry = counters.telemetry(publicInstallationId, nowMs);
    const isShared =
      shared !== null &&
      shared.telemetry.reading === telemetry.reading &&
      madeAtMs - shared.madeAtMs < processSharedMs;
    if (shared !== null && isShared) return shared.view;
    shared = { view: makeProcess(telemetry, nowMs), madeAtMs, telemetry };
    return shared.view;
  }

  function makeProcess(telemetry: TelemetryView, generatedAtMs: number): ProcessView {
    const measurement = measurementOf(telemetry);
    const builder = builderOf(measurement);
    const oracle = oracleWithoutClosure;
    const settlementQueue = queueWithoutClosure;
    return {
      installationId: publicInstallationId,
      revision: revisionOf([telemetry.revision, telemetry.freshness, builder, oracle, settlementQueue]),
      generatedAtMs,
      measurement,
      builder,
      oracle,
      settlementQueue,
      signer: pipeline.signer(publicInstallationId),
      modules: pipeline.modules(publicInstallationId),
    };
  }

  return {
    publicInstallationId,
    telemetry: (installationId) => counters.telemetry(installationId, clock.nowMs()),
    modules: () => pipeline.modules(publicInstallationId),
    process,
    chain: parts.chain,
  };
}

function measurementOf({ freshness, reading }: TelemetryView): MeasurementView | null {
  return reading === null || freshness === 'offline' ? null : { freshness, reading };
}

/** The first reason that applies, in the design's order: without an approved epoch nothing can be projected. */
function builderOf(measurement: MeasurementView | null): BuilderView {
  if (measurement === null) return { status: 'unavailable', reason: 'no_measurement' };
  if (measurement.reading.coreStatus === 'COUNTER_FAULT')
    return { status: 'unavailable', reason: 'counter_fault' };
  return { status: 'unavailable', reason: 'counter_epoch_unapproved' };
}

const oracleWithoutClosure: OracleView = {
  state: 'unavailable',
  reason: 'no_closure',
  latestAcceptedAtMs: null,
  latestClosure: null,
};

const queueWithoutClosure: SettlementQueueView = { status: 'unavailable', reason: 'oracle_head_unavailable' };

/** An opaque digest of what the snapshot shows, its time of making aside. */
function revisionOf(content: readonly unknown[]): string {
  return createHash('sha256').update(JSON.stringify(content)).digest('base64url').slice(0, 22);
}
