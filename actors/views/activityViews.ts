import type { ChainState } from '../chain/chainState.ts';
import type { OlderEvents } from '../feed/olderEvents.ts';
import { computeRevision } from '../revision.ts';
import type { PipelineActors } from '../settlement/pipelineActors.ts';
import { projectProcess } from '../settlement/processProjection.ts';
import type { CounterActors } from '../wheel/counterActors.ts';
import type { ChainViews, SettlementRange } from './chainViewTypes.ts';
import type { Clock } from './clock.ts';
import { createFeedViews } from './feedViews.ts';
import { createStatisticsViews } from './statisticsViews.ts';
import type { ActivityViews, MeasurementView, ProcessView, SettlementsView, TelemetryView } from './views.ts';

/** The process snapshot is shared for this long (CONTRACT.md, Caching). */
const processSharedMs = 1_000;

export interface ActivityViewsOptions {
  readonly publicInstallationId: string;
  readonly counters: CounterActors;
  readonly pipeline: PipelineActors;
  readonly chain: ChainViews;
  /** The newest safe state of the chain; null while there is none. */
  readonly chainState: () => ChainState | null;
  /** Start of round 1 (epoch milliseconds). */
  readonly genesisMs: number;
  /** Every reading that the stream held at the start is folded in. */
  readonly isCounterCaughtUp: () => boolean;
  readonly olderEvents: OlderEvents;
  readonly clock: Clock;
}

/** The views of all actors, as HTTP reads them. */
export function createActivityViews(options: ActivityViewsOptions): ActivityViews {
  const { publicInstallationId, counters, pipeline, clock } = options;
  const statistics = createStatisticsViews({
    installationId: publicInstallationId,
    history: () => counters.history(),
    settlement: () => pipeline.settlement(publicInstallationId),
    chain: () => (options.chain.core().status === 'available' ? options.chainState() : null),
    genesisMs: options.genesisMs,
    clock,
  });
  const feed = createFeedViews({
    installationId: publicInstallationId,
    chain: options.chain,
    progress: () => counters.achievements(),
    olderEvents: options.olderEvents,
  });
  let shared: { view: ProcessView; madeAtMs: number; sources: readonly unknown[] } | null = null;

  /** Computed when it is asked for, so a burst of messages costs no more than the requests that follow it. */
  function process(): ProcessView {
    const nowMs = clock.nowMs();
    const madeAtMs = clock.monotonicMs();
    const telemetry = counters.telemetry(publicInstallationId, nowMs);
    const settlement = pipeline.settlement(publicInstallationId);
    const signer = pipeline.signer(publicInstallationId);
    const modules = pipeline.modules(publicInstallationId);
    const chain = options.chainState();
    // Each of them is immutable, and another object once a message has changed it.
    const sources = [telemetry.reading, settlement, signer, modules, chain];
    const isShared =
      shared !== null &&
      madeAtMs - shared.madeAtMs < processSharedMs &&
      shared.sources.every((source, index) => source === sources[index]);
    if (shared !== null && isShared) return shared.view;
    const measurement = toMeasurementView(telemetry);
    const projection = projectProcess({
      measurement,
      activity: counters.activity(publicInstallationId),
      settlement,
      chain,
      genesisMs: options.genesisMs,
      nowMs,
    });
    const view = {
      installationId: publicInstallationId,
      revision: computeRevision([telemetry.revision, telemetry.freshness, projection]),
      generatedAtMs: nowMs,
      measurement,
      ...projection,
      signer,
      modules,
    };
    shared = { view, madeAtMs, sources };
    return view;
  }

  /** One for each range, with and without the queue. */
  const held = new Map<string, SettlementsView>();

  function settlements(range: SettlementRange, withQueue: boolean): SettlementsView {
    const history = options.chain.settlements(range);
    const queue = withQueue ? process().settlementQueue : null;
    const key = `${range} ${withQueue}`;
    const known = held.get(key);
    if (known?.history === history && known.queue === queue) return known;
    const view = { history, queue };
    held.set(key, view);
    return view;
  }

  return {
    publicInstallationId,
    telemetry: (installationId) => counters.telemetry(installationId, clock.nowMs()),
    modules: () => pipeline.modules(publicInstallationId),
    process,
    chain: options.chain,
    feed,
    settlements,
    get statistics() {
      return options.isCounterCaughtUp() ? statistics : null;
    },
  };
}

function toMeasurementView({ freshness, reading }: TelemetryView): MeasurementView | null {
  return reading === null || freshness === 'offline' ? null : { freshness, reading };
}
