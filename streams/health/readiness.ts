import type { ChainActors } from '../../actors/chain/chainActors.ts';
import type { Clock } from '../../actors/clock.ts';
import type { ChainConditions } from '../../actors/views/chain/chainViews.ts';
import type { Readiness } from '../../actors/views/views.ts';
import type { DatabaseReach } from '../../machines/serviceMachine.ts';
import type { StreamFollower } from '../follower/streamFollower.ts';
import type { Ingest } from '../ingest/ingest.ts';
import type { LostStream, StreamGuard } from '../ingest/lostStreams.ts';
import type { StreamSettingsWatch } from '../jetstream/settings/streamSettings.ts';
import type { StreamWork } from '../work/streamWork.ts';

const noFollowers: StreamWork['followers'] = new Map();

interface ReadinessOptions {
  readonly clock: Clock;
  /**
   * How long a fault may last before the process is not ready: an input lags, spans are refused, ClickHouse does not answer or takes no
   * rows, or a rejection cannot be published. A short outage of ClickHouse is harmless, since only old pages need it.
   */
  readonly graceMs: number;
  /** Null until the tables are known. */
  readonly work: () => Pick<StreamWork, 'followers' | 'writers' | 'rejections'> | null;
  readonly isNatsConnected: () => boolean;
  /** Undefined before ClickHouse is asked. */
  readonly databaseReach: () => DatabaseReach | undefined;
  readonly ingest: Pick<Ingest, 'standbyFor'>;
  /** Whether rows may be stored. Not by a process that ingests and cannot renew its lease, since NATS is away. */
  readonly mayWrite: () => boolean;
  readonly streamGuard: Pick<StreamGuard, 'lost'>;
  /** Risks make no process unready: what is shown is right, and every other process would be in the same condition. */
  readonly streamSettings: Pick<StreamSettingsWatch, 'risks'>;
  /** The process is about to end. */
  readonly isLeaving: () => boolean;
  /** Null without contracts. */
  readonly chain: Pick<ChainActors, 'fault' | 'refusedSpan'> | null;
  /** Null while the process does not follow the chain. */
  readonly conditions: () => ChainConditions | null;
}

/**
 * Determines whether responses are complete and fresh: every stream is restored, caught up and current, and rows and rejections are being
 * stored. Otherwise the result names everything that the process waits for.
 */
export function createReadiness(options: ReadinessOptions): () => Readiness {
  const { clock, graceMs, work, isNatsConnected, databaseReach, isLeaving, chain } = options;
  const { standbyFor } = options.ingest;

  /** Lost streams, without those that have been found again. */
  function findLost(followers: StreamWork['followers']): readonly LostStream[] {
    return options.streamGuard.lost.filter(({ stream }) => {
      const follower = followers.get(stream);
      return !follower?.isRestored || ['missing', 'diverged'].includes(follower.status().state);
    });
  }

  function streamDetail(follower: StreamFollower, isLost: boolean) {
    const { isCurrent, state, position, lastSequence, freshAsOfMs } = follower.status();
    const ageMs = freshAsOfMs === null ? null : clock.bootMs() - freshAsOfMs;
    const isFresh = ageMs !== null && ageMs <= graceMs;
    const lag = lastSequence === null ? null : Math.max(0, lastSequence - position);
    const staleSeconds = ageMs === null ? null : Math.round(ageMs / 1_000);
    return {
      isReady: isCurrent && isFresh && !isLost,
      state,
      isCaughtUp: isCurrent,
      position,
      lastSequence,
      lag,
      staleSeconds,
    };
  }

  function areRowsStored(): boolean {
    const writers = [...(work()?.writers.values() ?? [])];
    // An unanswered insert is no refusal yet, but stores nothing either.
    return writers.every((writer) => (writer.status().storingForMs ?? 0) <= graceMs);
  }

  const isRefusingRows = () => options.mayWrite() && !areRowsStored();
  const isLeaseAwaited = () => standbyFor() !== null || (!options.mayWrite() && !areRowsStored());

  function databaseState(): 'reachable' | 'unavailable' | 'refusing rows' {
    if (!databaseReach()?.isReachable) return 'unavailable';
    return isRefusingRows() ? 'refusing rows' : 'reachable';
  }

  /** Rows and snapshots wait behind a rejection that cannot be published. */
  function areRejectionsPublished(): boolean {
    const logs = [...(work()?.rejections.values() ?? [])];
    return logs.every((log) => (log.publishingForMs ?? 0) <= graceMs);
  }

  function areSpansFolded(): boolean {
    const sinceMs = chain?.refusedSpan?.storedAtMs;
    return sinceMs === undefined || clock.nowMs() - sinceMs <= graceMs;
  }

  /**
   * Why chain views are unavailable, in more detail than in responses. It does not make a process unready, since any other process would be in the
   * same condition.
   */
  function chainDetail() {
    const { block, detail } = chain?.fault ?? {};
    return {
      conditions: options.conditions(),
      refusedSpan: chain?.refusedSpan ?? null,
      // Names the block that cannot be applied; everything else is still served.
      ...(block && {
        chainFault: { reason: 'projection_failed', block: block.number.toString(), hash: block.hash, detail },
      }),
    };
  }

  return () => {
    const followers = work()?.followers ?? noFollowers;
    const lostStreams = findLost(followers);
    const isLost = (name: string) => lostStreams.some(({ stream }) => stream === name);
    const streams = Object.fromEntries(
      [...followers].map(([stream, follower]) => [stream, streamDetail(follower, isLost(stream))]),
    );
    const waitingStreams = Object.entries(streams).flatMap(([stream, { isReady }]) =>
      isReady ? [] : [stream],
    );
    const hasStreams = followers.size > 0 && waitingStreams.length === 0;
    const standby = standbyFor();
    const waitingFor = [
      ...(isLeaving() ? ['the end of this process'] : []),
      // A brief loss of the connection does not matter until the streams fall behind.
      ...(isNatsConnected() || hasStreams ? [] : ['NATS']),
      ...(databaseReach()?.isWithinGrace && !isRefusingRows() ? [] : ['ClickHouse']),
      ...(areRejectionsPublished() ? [] : ['MINER_REJECTED']),
      ...(areSpansFolded() ? [] : ['a span that can be folded']),
      ...(isLeaseAwaited() ? ['the ingest lease'] : []),
      ...(followers.size === 0 ? ['the streams'] : waitingStreams),
    ];
    return {
      isReady: waitingFor.length === 0,
      detail: {
        waitingFor,
        nats: isNatsConnected() ? 'connected' : 'waiting',
        clickhouse: databaseState(),
        ...(standby === null ? {} : { standbyFor: standby }),
        streams,
        lostStreams,
        streamRisks: options.streamSettings.risks.map(({ stream, setting, value, detail }) => ({
          stream,
          setting,
          value,
          detail,
        })),
        chain: chainDetail(),
      },
    };
  };
}

/** Whether views can be shown. The chain's snapshot is some minutes old, so later messages are folded first, unless that takes long. */
export function createViewsCheck({
  work,
  graceMs,
  clock,
}: Pick<ReadinessOptions, 'work' | 'graceMs' | 'clock'>): () => boolean {
  let restoredAtMs: number | null = null;
  let hasViews = false;
  const checkViews = () => {
    const followers = work()?.followers;
    if (followers === undefined || ![...followers.values()].every(({ isRestored }) => isRestored))
      return false;
    restoredAtMs ??= clock.monotonicMs();
    const wasCurrent = followers.get('MINER_CHAIN')?.wasCurrent ?? true;
    return wasCurrent || clock.monotonicMs() - restoredAtMs > graceMs;
  };
  return () => {
    // Once true it stays true, and is asked with each request.
    hasViews ||= checkViews();
    return hasViews;
  };
}
