import type { Logger } from 'pino';
import { Registry } from 'prom-client';
import type { ModulesView } from '../../../actors/device/moduleSnapshot.ts';
import type { ObservationReader, OlderEvents, ReadOlderDay } from '../../../actors/pages/olderRows.ts';
import { initialSettlement } from '../../../actors/settlement/settlementActor.ts';
import type { ActorViews, ProcessView } from '../../../actors/views/actorViews.ts';
import type { ChainViews } from '../../../actors/views/chain/chainViews.ts';
import { createFeedNews } from '../../../actors/views/feed/feedNews.ts';
import { createFeedViews } from '../../../actors/views/feed/feedViews.ts';
import { createStatisticsViews } from '../../../actors/views/statisticsViews.ts';
import type { DayHistory } from '../../../actors/wheel/dayHistory.ts';
import type { MeasurementProgress } from '../../../actors/wheel/measurementEvents.ts';
import type { TelemetryView } from '../../../actors/wheel/telemetryView.ts';
import { createPublicServer, type PublicServerSettings } from '../../../http/server/publicServer.ts';
import { foldedThrough } from '../chain/economyState.ts';
import { createTestChainViews } from '../chain/testChainViews.ts';
import { type ManualClock, manualClock } from '../manualClock.ts';
import { whenFinished } from '../processes/lifetime.ts';
import { acceptedReading } from '../readings/acceptedReading.ts';
import { silentLogger } from '../silentLogger.ts';
import { noOlderEvents } from '../storage/noOlderRows.ts';

/** Views that a test sets. Each keeps its identity until it is set again. */
interface SettableViews {
  telemetry: Map<string, TelemetryView>;
  modules: ModulesView;
  process: ProcessView;
}

export const plainServerSettings: PublicServerSettings = {
  allowedOrigins: ['https://wheel.example'],
  trustedProxies: [],
  rateLimits: false,
  readTimeoutMs: 5_000,
  transactionUrl: null,
  publicUrl: null,
  securityContact: null,
};

const publicInstallationId = 'wheel-1';

function exampleViews(installationId = publicInstallationId): SettableViews {
  const reading = acceptedReading({ position: 12, cumulativeWorkUnits: 2n ** 63n });
  const modules: ModulesView = {
    installationId,
    modules: Array.from({ length: 6 }, (_, index) => ({
      instanceId: `sensor-${index}`,
      moduleType: 'wheel-sensor',
      driverId: 'hall',
      moduleVersion: '1.2.3',
      schemaVersion: 1,
      state: 'ready',
      observedAtMs: reading.observedAtMs,
      provenance: 'hardware',
      health: { checkedAtMs: reading.observedAtMs, message: null, code: undefined },
    })),
  };
  return {
    telemetry: new Map([
      [
        installationId,
        { installationId, freshness: 'online', revision: '12.abc', reading } satisfies TelemetryView,
      ],
    ]),
    modules,
    process: {
      installationId,
      revision: 'revision-1',
      generatedAtMs: reading.observedAtMs,
      measurement: { freshness: 'online', reading },
      builder: { status: 'unavailable', reason: 'counter_epoch_unapproved' },
      oracle: { state: 'unavailable', reason: 'no_closure', latestAcceptedAtMs: null, latestClosure: null },
      settlementQueue: { status: 'unavailable', reason: 'oracle_head_unavailable' },
      signer: {
        kind: 'ed25519',
        algorithm: 'Ed25519',
        keySlot: '0',
        enrolledAtMs: reading.observedAtMs,
        lastVerifiedAtMs: reading.observedAtMs,
        lastSignature: 'c2lnbmF0dXJl',
      },
      modules,
    },
  };
}

export interface TestPublicServer {
  readonly base: string;
  readonly port: number;
  readonly views: SettableViews;
  readonly registry: Registry;
  readonly clock: ManualClock;
  ready: boolean;
  hasViews: boolean;
  get(path: string, headers?: Record<string, string>, method?: string): Promise<Response>;
  /** The server is about to close. */
  leave(): void;
  close(): void;
}

const noObservations: ObservationReader = { page: () => ({ items: [], more: false }) };

/** Starts the public server, on a free port unless one is given, and closes it after the test. */
export async function startPublicServer(
  overrides: Partial<PublicServerSettings> & {
    observations?: ObservationReader;
    chain?: ChainViews;
    progress?: () => MeasurementProgress | null;
    history?: () => DayHistory | null;
    olderEvents?: OlderEvents;
    olderDay?: ReadOlderDay;
    logger?: Logger;
    /** False for a server that has no state yet. */
    hasViews?: boolean;
    /** ID in all views; an invalid one makes every body invalid. */
    installationId?: string;
  } = {},
  givenPort = 0,
): Promise<TestPublicServer> {
  const {
    installationId = publicInstallationId,
    logger = silentLogger,
    observations = noObservations,
    chain = createTestChainViews({ installationId }),
    progress = () => null,
    history = () => null,
    olderEvents = noOlderEvents,
    olderDay = async () => new Map(),
    hasViews = true,
    ...settings
  } = overrides;
  const views = exampleViews(installationId);
  const state = { ready: hasViews, hasViews };
  const clock = manualClock();
  const statistics = createStatisticsViews({
    installationId,
    history,
    settlement: () => initialSettlement,
    chain: () => null,
    olderDay,
    genesisMs: Date.UTC(2026, 0, 31, 12),
    clock,
  });
  const actorViews: ActorViews = {
    publicInstallationId: installationId,
    telemetry: (id) =>
      views.telemetry.get(id) ?? { installationId: id, freshness: 'offline', revision: null, reading: null },
    modules: () => views.modules,
    process: () => views.process,
    isClosed: () => false,
    chain,
    feed: createFeedViews({ installationId, chain, progress, olderEvents }),
    readFeedMoment: createFeedNews({
      chain,
      counters: { achievements: progress, shownThrough: () => foldedThrough },
      olderEvents,
    }),
    lastKnownFeed: createFeedViews({ installationId, chain: chain.lastKnown, progress, olderEvents }),
    get statistics() {
      return state.ready ? statistics : null;
    },
    settlements: (range, withQueue) => ({
      history: chain.settlements(range),
      queue: withQueue ? views.process.settlementQueue : null,
    }),
  };
  const registry = new Registry();
  const server = createPublicServer({
    sources: { views: actorViews, observations },
    hasViews: () => state.hasViews,
    readiness: () => ({ isReady: state.ready, detail: {} }),
    clock,
    logger,
    registry,
    settings: { ...plainServerSettings, ...settings },
  });
  const port = await server.listen('127.0.0.1', givenPort);
  whenFinished(() => server.close());
  const base = `http://127.0.0.1:${port}`;
  return Object.assign(state, {
    base,
    port,
    views,
    registry,
    clock,
    leave: () => server.leave(),
    close: () => server.close(),
    get: (path: string, headers: Record<string, string> = {}, method = 'GET') =>
      fetch(`${base}${path}`, { method, headers }),
  });
}
