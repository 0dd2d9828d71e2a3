import type { ChainActors } from '../../actors/chain/chainActors.ts';
import type { ActorViews } from '../../actors/views/views.ts';
import { createReadiness } from '../../streams/health/readiness.ts';
import type { ServiceContext } from './serviceContext.ts';

/** Conditions of the chain's views. A process without streams, such as a standby, cannot know them. */
export function readConditions({ state }: ServiceContext, { chain }: ActorViews) {
  return state.work() === null ? null : chain.conditions();
}

export function createServiceReadiness(context: ServiceContext, views: ActorViews) {
  const { settings, state, actors, ingest, streamGuard, streamSettings, clock } = context;
  const { MINER_CHAIN: chain } = actors;
  return createReadiness({
    clock,
    followers: state.work,
    graceMs: settings.readyGraceMs,
    isNatsConnected: state.isNatsConnected,
    isDatabaseReachable: () => state.database().isReachable,
    isDatabaseWithinGrace: () => state.database().isWithinGrace,
    standbyFor: ingest.standbyFor,
    mayWrite: () => !settings.roles.ingest || ingest.isHeld(),
    lostStreams: () => streamGuard.lost,
    streamRisks: () => streamSettings.risks,
    isLeaving: state.isLeaving,
    chain: () => ({
      conditions: readConditions(context, views),
      refusedSpan: chain?.refusedSpan ?? null,
      ...describeFault(chain),
    }),
    spansRefusedSinceMs: () => chain?.refusedSpan?.storedAtMs ?? null,
  });
}

/** Whether views can be shown. The chain's snapshot is some minutes old, so later messages are folded first, unless that takes long. */
export function createViewsCheck({ settings, state, clock }: ServiceContext): () => boolean {
  let restoredAtMs: number | null = null;
  let hasViews = false;
  const check = () => {
    const work = state.work();
    if (work === null || !work.isRestored()) return false;
    restoredAtMs ??= clock.monotonicMs();
    const wasCurrent = work.followers.get('MINER_CHAIN')?.wasCurrent ?? true;
    return wasCurrent || clock.monotonicMs() - restoredAtMs > settings.readyGraceMs;
  };
  // Once true it stays true, and is asked with each request.
  return () => {
    hasViews ||= check();
    return hasViews;
  };
}

/** Names the block that cannot be applied, if any; everything else is still served. */
function describeFault(chain: ChainActors | null): object {
  const fault = chain?.fault ?? null;
  if (fault === null) return {};
  const { block, detail } = fault;
  return {
    chainFault: { reason: 'projection_failed', block: block.number.toString(), hash: block.hash, detail },
  };
}
