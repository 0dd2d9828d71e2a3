import type { ModulesView } from '../device/moduleSnapshot.ts';
import type { SignerIdentity } from '../device/signerIdentity.ts';
import type { TelemetryView } from '../wheel/telemetryView.ts';
import type { ChainViews } from './chain/chainViews.ts';
import type { SettlementRange } from './chain/settlementHistory.ts';
import type { SettlementHistoryView } from './chain/settlementView.ts';
import type { ChainUnavailable } from './chain/shownStates.ts';
import type { ReadFeedMoment } from './feed/feedNews.ts';
import type { FeedViews } from './feed/feedViews.ts';
import type { MeasurementView, ProcessProjection, SettlementQueueView } from './processProjection.ts';
import type { StatisticsViews } from './statisticsViews.ts';

// For the schemas of the responses, which import no machines.
export { moduleStates } from '../../machines/moduleMachine.ts';
export { submissionLifecycles } from '../../machines/submission.ts';

/**
 * Views are the data that HTTP reads: immutable, computed from the actors' state and the injected clock, and cached (`cacheView.ts`).
 * A view keeps its identity (`===`) while its content is unchanged, so the bytes of a response are prepared once per view. Amounts and
 * counters are bigints, times are epoch milliseconds.
 */

/** The process snapshot and, with signer and modules, the status (CONTRACT.md, Process). */
export interface ProcessView extends ProcessProjection {
  readonly installationId: string;
  /** Changes with the sources or the freshness, but not with `generatedAtMs`, the signer or the modules alone. */
  readonly revision: string;
  readonly generatedAtMs: number;
  readonly measurement: MeasurementView | null;
  readonly signer: SignerIdentity | null;
  readonly modules: ModulesView;
}

/** Views for the routes. A call that reaches behind memory returns a promise. */
export interface ActorViews {
  readonly publicInstallationId: string;
  /** Telemetry of any installation; offline if it has published nothing. */
  telemetry(installationId: string): TelemetryView;
  modules(): ModulesView;
  /** Shared for up to one second, and computed again as soon as a message changes it. */
  process(): ProcessView;
  /** Whether the oracle has closed a round of the public installation. Closures may skip rounds. */
  isClosed(roundId: bigint): boolean;
  readonly chain: ChainViews;
  /** Settlement history of the public route. The view stays the same while both parts do. */
  settlements(range: SettlementRange, withQueue: boolean): SettlementsView;
  /** Events of the chain and achievements of the public installation. */
  readonly feed: FeedViews;
  /** The same from the last known state of the chain, for the pages while `feed` is unavailable. */
  readonly lastKnownFeed: Pick<FeedViews, 'page'>;
  /** The events in the order of the event stream. */
  readonly readFeedMoment: ReadFeedMoment;
  /** Statistics of the public installation; null until all readings from before the start are folded. */
  readonly statistics: StatisticsViews | null;
}

/** Settlement history, with the queue of the process snapshot if requested. */
export interface SettlementsView {
  readonly history: SettlementHistoryView | ChainUnavailable;
  readonly queue: SettlementQueueView | null;
}

export interface Readiness {
  readonly isReady: boolean;
  /** Progress of each part that readiness depends on. */
  readonly detail: Readonly<Record<string, unknown>>;
}
