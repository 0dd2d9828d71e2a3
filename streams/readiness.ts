import type { Clock } from '../actors/views/clock.ts';
import type { Readiness } from '../actors/views/readiness.ts';
import type { LeaseHolder } from '../machines/leaseMachine.ts';
import type { Followers } from './followers.ts';
import type { StreamFollower } from './streamFollower.ts';

const noFollowers: Followers['followers'] = new Map();

export interface ReadinessOptions {
  readonly clock: Clock;
  /** An input that is not kept up with for longer than this, or rows that are not taken, make a process not ready. */
  readonly graceMs: number;
  /** Null until the tables are known that they work on. */
  readonly followers: () => Pick<Followers, 'followers' | 'writers'> | null;
  readonly isNatsConnected: () => boolean;
  readonly isDatabaseReachable: () => boolean;
  /** The process that ingests while this one waits to. */
  readonly standbyFor: () => LeaseHolder | null;
  /**
   * Why views of the chain are unavailable, in finer words than bodies have. It makes no process unready: another one would have the
   * same to say.
   */
  readonly chain: () => unknown;
}

/**
 * Whether what is served is complete and fresh: every stream restored, caught up, and kept up with; what is folded is being stored. It says what
 * is waited for, by name.
 */
export function createReadiness(options: ReadinessOptions): () => Readiness {
  const { clock, graceMs, isNatsConnected, isDatabaseReachable, standbyFor } = options;

  function streamDetail(follower: StreamFollower) {
    const { isCaughtUp, isRebuilding, state, position, lastSequence, freshAsOfMs } = follower.status();
    const ageMs = freshAsOfMs === null ? null : clock.monotonicMs() - freshAsOfMs;
    const isFresh = ageMs !== null && ageMs <= graceMs;
    const lag = lastSequence === null ? null : Math.max(0, lastSequence - position);
    const staleSeconds = ageMs === null ? null : Math.round(ageMs / 1_000);
    return {
      isReady: isCaughtUp && !isRebuilding && isFresh,
      state,
      isCaughtUp: isCaughtUp && !isRebuilding,
      position,
      lastSequence,
      lag,
      staleSeconds,
    };
  }

  function databaseState(): 'reachable' | 'away' | 'refusing rows' {
    if (!isDatabaseReachable()) return 'away';
    const isRefusing = [...(options.followers()?.writers.values() ?? [])].some(
      (writer) => (writer.status().failingForMs ?? 0) > graceMs,
    );
    return isRefusing ? 'refusing rows' : 'reachable';
  }

  return () => {
    const followers = options.followers()?.followers ?? noFollowers;
    const streams = Object.fromEntries(
      [...followers].map(([stream, follower]) => [stream, streamDetail(follower)]),
    );
    const waitingStreams = Object.entries(streams).flatMap(([stream, { isReady }]) =>
      isReady ? [] : [stream],
    );
    const hasStreams = followers.size > 0 && waitingStreams.length === 0;
    const clickhouse = databaseState();
    const standby = standbyFor();
    const waitingFor = [
      // A connection that is lost for a moment is no matter before the streams fall behind.
      ...(isNatsConnected() || hasStreams ? [] : ['NATS']),
      ...(clickhouse === 'reachable' ? [] : ['ClickHouse']),
      ...(standby === null ? [] : ['the ingest lease']),
      ...(followers.size === 0 ? ['the streams'] : waitingStreams),
    ];
    return {
      isReady: waitingFor.length === 0,
      detail: {
        waitingFor,
        nats: isNatsConnected() ? 'connected' : 'waiting',
        clickhouse,
        ...(standby === null ? {} : { standbyFor: standby }),
        streams,
        chain: options.chain(),
      },
    };
  };
}
