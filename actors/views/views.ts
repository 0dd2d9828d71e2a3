import type { SettlementContext } from '../../machines/settlementEvents.ts';
import type { Submission, SubmissionLifecycle } from '../../machines/submission.ts';
import type { Frontier } from '../chain/state/settlementArithmetic.ts';
import type { ModulesView } from '../device/moduleSnapshot.ts';
import type { SignerIdentity } from '../device/signerIdentity.ts';
import type { OracleState } from '../settlement/oracleState.ts';
import type { BlockedReason, SettlementQueueState } from '../settlement/queueState.ts';
import type { CounterReading } from '../wheel/counterReading.ts';
import type { TelemetryView } from '../wheel/telemetryView.ts';
import type { ChainViews } from './chain/chainViews.ts';
import type { SettlementRange } from './chain/settlementHistory.ts';
import type { SettlementHistoryView } from './chain/settlementView.ts';
import type { ChainUnavailable } from './chain/shownStates.ts';
import type { ReadFeedMoment } from './feed/feedNews.ts';
import type { FeedViews } from './feed/feedViews.ts';
import type { StatisticsViews } from './statisticsViews.ts';

// For the schemas of the responses, which import no machines.
export { moduleStates } from '../../machines/moduleMachine.ts';
export { submissionLifecycles } from '../../machines/submission.ts';

/**
 * Views are the data that HTTP reads: immutable, computed from the actors' state and the injected clock, and cached (`cacheView.ts`).
 * A view keeps its identity (`===`) while its content is unchanged, so the bytes of a response are prepared once per view. Amounts and
 * counters are bigints, times are epoch milliseconds.
 */

/** The newest accepted reading and its freshness. */
export interface MeasurementView {
  readonly freshness: 'online' | 'stale';
  readonly reading: CounterReading;
}

interface Unavailable<Reason extends string> {
  readonly status: 'unavailable';
  readonly reason: Reason;
}

/** The core's sums through a settled or projected round. */
export interface FrontierView extends Frontier {
  /** Number of complete work blocks. */
  readonly blockHeight: bigint;
  /** Block units of the incomplete work block. */
  readonly blockProgress: bigint;
}

/** The settled frontier of the safe chain view, with the settlement that reached it. Both members are null before the first settlement. */
export interface AnchorView extends FrontierView {
  readonly confirmedAtMs: number | null;
  readonly transactionHash: string | null;
}

/** Work blocks that a projection completes. The bounds are null exactly when the count is zero. */
export interface CompletedBlocks {
  readonly firstCompletedBlock: bigint | null;
  readonly lastCompletedBlock: bigint | null;
  readonly completedBlockCount: bigint;
}

export interface ProjectedView extends FrontierView, CompletedBlocks {}

export const builderUnavailableReasons = [
  'no_measurement',
  'counter_fault',
  'counter_epoch_unapproved',
  'oracle_head_unavailable',
  'round_projection_gap',
  'round_ineligible',
] as const;
type BuilderUnavailableReason = (typeof builderUnavailableReasons)[number];
export type BuilderView =
  | Unavailable<BuilderUnavailableReason>
  | {
      readonly status: 'available';
      readonly anchor: AnchorView;
      readonly queued: {
        readonly closedRoundCount: bigint;
        readonly closedWorkUnits: bigint;
        readonly openRoundWorkUnits: bigint;
      };
      readonly projected: ProjectedView;
    };

export const queueUnavailableReasons = [
  'oracle_head_unavailable',
  'round_projection_gap',
  'round_ineligible',
] as const;
export type QueueUnavailableReason = (typeof queueUnavailableReasons)[number];

export interface SubmissionView extends Omit<Submission, 'expected'> {
  readonly lifecycle: SubmissionLifecycle;
  readonly roundCount: bigint;
  readonly expected: AnchorView & CompletedBlocks;
  readonly outcomeCode: string | null;
}

export type SettlementQueueView =
  | Unavailable<QueueUnavailableReason>
  | {
      readonly status: 'available';
      readonly state: SettlementQueueState;
      readonly settlementEnabled: boolean;
      readonly reporterEnvironmentEnabled: boolean;
      /** Closed rounds above the settled frontier. */
      readonly buffered: {
        readonly firstRound: bigint | null;
        readonly lastRound: bigint | null;
        readonly roundCount: bigint;
        readonly activeRoundCount: bigint;
        readonly workUnits: bigint;
      };
      readonly projected: ProjectedView;
      readonly incidentOpen: boolean;
      readonly blockedReason: BlockedReason | null;
      readonly lastRun: SettlementContext['lastRun'];
      readonly latestSubmission: SubmissionView | null;
    };

export interface OracleView {
  readonly state: OracleState;
  /** Null for accepted and stale. */
  readonly reason: string | null;
  /** Null exactly when the state is unavailable. */
  readonly latestAcceptedAtMs: number | null;
  readonly latestClosure: SettlementContext['closure'];
}

/** The process snapshot and, with signer and modules, the status (CONTRACT.md, Process). */
export interface ProcessView {
  readonly installationId: string;
  /** Changes with the sources or the freshness, but not with `generatedAtMs`, the signer or the modules alone. */
  readonly revision: string;
  readonly generatedAtMs: number;
  readonly measurement: MeasurementView | null;
  readonly builder: BuilderView;
  readonly oracle: OracleView;
  readonly settlementQueue: SettlementQueueView;
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
