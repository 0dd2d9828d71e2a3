import { cacheView } from '../caching/cacheView.ts';
import type { Clock } from '../clock.ts';
import type { OlderEvents, ReadOlderDay } from '../pages/olderRows.ts';
import type { SettlementActors } from '../settlement/settlementActors.ts';
import type { CounterActors } from '../wheel/counterActors.ts';
import type { ChainViews } from './chain/chainViews.ts';
import { mapSettlementRanges, type SettlementRange } from './chain/settlementHistory.ts';
import { createFeedNews } from './feed/feedNews.ts';
import { createFeedViews } from './feed/feedViews.ts';
import { hasRound, projectProcess } from './processProjection.ts';
import { computeRevision } from './revision.ts';
import { createStatisticsViews } from './statisticsViews.ts';

/** The process snapshot is shared for this long (CONTRACT.md, Caching). */
const processSharedMs = 1_000;

interface ActorViewsOptions {
  readonly publicInstallationId: string;
  readonly counters: CounterActors;
  readonly settlements: SettlementActors;
  readonly chain: ChainViews;
  /** Start of round 1 (epoch milliseconds). */
  readonly genesisMs: number;
  /** Whether all readings that the stream had at the start are folded. */
  readonly isCounterCurrent: () => boolean;
  readonly olderEvents: OlderEvents;
  readonly olderDay: ReadOlderDay;
  readonly clock: Clock;
}

/**
 * Views are the data that HTTP reads: immutable, computed from the actors' state and the injected clock, and cached (`cacheView.ts`).
 * A view keeps its identity (`===`) while its content is unchanged, so the bytes of a response are prepared once per view. Amounts and
 * counters are bigints, times are epoch milliseconds. A call that reaches behind memory returns a promise.
 */
export type ActorViews = ReturnType<typeof createActorViews>;
/** The process snapshot and, with signer and modules, the status (CONTRACT.md, Process). */
export type ProcessView = ReturnType<ActorViews['process']>;
/** Settlement history, with the queue of the process snapshot if requested. */
export type SettlementsView = ReturnType<ActorViews['settlements']>;

export function createActorViews(options: ActorViewsOptions) {
  const { publicInstallationId, counters, settlements, clock } = options;
  const statistics = createStatisticsViews({
    installationId: publicInstallationId,
    history: () => counters.history(),
    settlement: () => settlements.settlement(publicInstallationId),
    chain: () => (options.chain.core().status === 'available' ? options.chain.safeState() : null),
    olderDay: options.olderDay,
    genesisMs: options.genesisMs,
    clock,
  });
  const createFeed = (chain: Pick<ChainViews, 'economy'>) =>
    createFeedViews({
      installationId: publicInstallationId,
      chain,
      progress: () => counters.achievements(),
      olderEvents: options.olderEvents,
    });

  const process = cacheView({
    inputs: () => [
      counters.installation(publicInstallationId),
      counters.history(),
      settlements.settlement(publicInstallationId),
      settlements.signer(publicInstallationId),
      settlements.modules(publicInstallationId),
      options.chain.safeState(),
    ],
    compute: (installation, history, settlement, signer, modules, chain) => {
      const nowMs = clock.nowMs();
      const telemetry = counters.telemetry(publicInstallationId, nowMs);
      const { freshness, reading } = telemetry;
      const measurement = reading === null || freshness === 'offline' ? null : { freshness, reading };
      const projection = projectProcess({
        measurement,
        rounds:
          installation === null || history === null
            ? null
            : { openWorkUnits: installation.roundState.openRoundWorkUnits, history },
        settlement,
        chain,
        genesisMs: options.genesisMs,
        nowMs,
      });
      return {
        installationId: publicInstallationId,
        // Changes with the sources or the freshness, but not with `generatedAtMs`, the signer or the modules alone.
        revision: computeRevision([telemetry.revision, telemetry.freshness, projection]),
        generatedAtMs: nowMs,
        measurement,
        ...projection,
        signer,
        modules,
      };
    },
    validity: { clock, maxAgeMs: processSharedMs },
  });

  const settlementViews = (withQueue: boolean) =>
    mapSettlementRanges((range) =>
      cacheView({
        inputs: () => [options.chain.settlements(range), withQueue ? process().settlementQueue : null],
        compute: (history, queue) => ({ history, queue }),
      }),
    );
  const [settlementsAlone, settlementsWithQueue] = [settlementViews(false), settlementViews(true)];

  return {
    publicInstallationId,
    /** Telemetry of any installation; offline if it has published nothing. */
    telemetry: (installationId: string) => counters.telemetry(installationId, clock.nowMs()),
    modules: () => settlements.modules(publicInstallationId),
    /** Shared for up to one second, and computed again as soon as a message changes it. */
    process,
    /** Whether the oracle has closed a round of the public installation. Closures may skip rounds. */
    isClosed: (roundId: bigint) =>
      hasRound(settlements.settlement(publicInstallationId).closedRounds, roundId),
    chain: options.chain,
    /** Events of the chain and achievements of the public installation. */
    feed: createFeed(options.chain),
    /** The events in the order of the event stream. */
    readFeedMoment: createFeedNews(options),
    /** The feed from the last known state of the chain, for the pages while `feed` is unavailable. */
    lastKnownFeed: createFeed(options.chain.lastKnown),
    /** Settlement history of the public route. The view stays the same while both parts do. */
    settlements: (range: SettlementRange, withQueue: boolean) =>
      (withQueue ? settlementsWithQueue : settlementsAlone)[range](),
    /** Statistics of the public installation; null until all readings from before the start are folded. */
    get statistics() {
      return options.isCounterCurrent() ? statistics : null;
    },
  };
}
