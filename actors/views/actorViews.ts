import { cacheView } from '../caching/cacheView.ts';
import type { Clock } from '../clock.ts';
import type { OlderEvents, ReadOlderDay } from '../pages/olderRows.ts';
import type { SettlementActors } from '../settlement/settlementActors.ts';
import type { CounterActors } from '../wheel/counterActors.ts';
import type { ChainViews } from './chain/chainViews.ts';
import { mapSettlementRanges } from './chain/settlementHistory.ts';
import { createFeedNews } from './feed/feedNews.ts';
import { createFeedViews } from './feed/feedViews.ts';
import { hasRound, projectProcess } from './processProjection.ts';
import { computeRevision } from './revision.ts';
import { createStatisticsViews } from './statisticsViews.ts';
import type { ActorViews, ProcessView, SettlementsView } from './views.ts';

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

export function createActorViews(options: ActorViewsOptions): ActorViews {
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
    compute: (installation, history, settlement, signer, modules, chain): ProcessView => {
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
        compute: (history, queue): SettlementsView => ({ history, queue }),
      }),
    );
  const [settlementsAlone, settlementsWithQueue] = [settlementViews(false), settlementViews(true)];

  return {
    publicInstallationId,
    telemetry: (installationId) => counters.telemetry(installationId, clock.nowMs()),
    modules: () => settlements.modules(publicInstallationId),
    process,
    isClosed: (roundId) => hasRound(settlements.settlement(publicInstallationId).closedRounds, roundId),
    chain: options.chain,
    feed: createFeed(options.chain),
    readFeedMoment: createFeedNews(options),
    lastKnownFeed: createFeed(options.chain.lastKnown),
    settlements: (range, withQueue) => (withQueue ? settlementsWithQueue : settlementsAlone)[range](),
    get statistics() {
      return options.isCounterCurrent() ? statistics : null;
    },
  };
}
