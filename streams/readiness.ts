import { Gauge, type Registry } from 'prom-client';
import type { Clock } from '../actors/views/clock.ts';
import type { Readiness } from '../actors/views/readiness.ts';
import type { LeaseHolder } from '../machines/leaseSetup.ts';
import type { Followers } from './followers.ts';
import type { StreamFollower } from './streamFollower.ts';

const noFollowers: Followers['followers'] = new Map();

export interface ReadinessOptions {
  readonly clock: Clock;
  /**
   * A process is not ready if an input lags, ClickHouse does not answer or takes no rows, or a rejection cannot be published, for longer than
   * this. Only old pages need ClickHouse: an outage that is shorter does not take a process out of service.
   */
  readonly graceMs: number;
  /** Null until their tables are known. */
  readonly followers: () => Pick<Followers, 'followers' | 'writers' | 'rejections'> | null;
  readonly isNatsConnected: () => boolean;
  readonly isDatabaseReachable: () => boolean;
  /** Whether ClickHouse answers, or has answered within the grace. */
  readonly isDatabaseWithinGrace: () => boolean;
  /** The process that ingests while this one waits as a standby. */
  readonly standbyFor: () => LeaseHolder | null;
  /** The process is about to end. */
  readonly isLeaving: () => boolean;
  /**
   * Why views of the chain are unavailable, in more detail than response bodies. It does not make a process unready, since another one
   * would be in the same condition.
   */
  readonly chain: () => unknown;
}

/**
 * Whether responses are complete and fresh: every stream is restored, caught up and current, and folded rows are being stored, as are the
 * rejections that they wait for. It names what the process is waiting for.
 */
export function createReadiness(options: ReadinessOptions): () => Readiness {
  const { clock, graceMs, isNatsConnected, isDatabaseReachable, isDatabaseWithinGrace } = options;
  const { standbyFor, isLeaving } = options;

  function streamDetail(follower: StreamFollower) {
    const { isCurrent, state, position, lastSequence, freshAsOfMs } = follower.status();
    const ageMs = freshAsOfMs === null ? null : clock.monotonicMs() - freshAsOfMs;
    const isFresh = ageMs !== null && ageMs <= graceMs;
    const lag = lastSequence === null ? null : Math.max(0, lastSequence - position);
    const staleSeconds = ageMs === null ? null : Math.round(ageMs / 1_000);
    return {
      isReady: isCurrent && isFresh,
      state,
      isCaughtUp: isCurrent,
      position,
      lastSequence,
      lag,
      staleSeconds,
    };
  }

  function areRowsTaken(): boolean {
    const writers = [...(options.followers()?.writers.values() ?? [])];
    // An insert that is not answered is not refused yet, and stores nothing either.
    return writers.every((writer) => (writer.status().storingForMs ?? 0) <= graceMs);
  }

  function databaseState(): 'reachable' | 'unavailable' | 'refusing rows' {
    if (!isDatabaseReachable()) return 'unavailable';
    return areRowsTaken() ? 'reachable' : 'refusing rows';
  }

  /** Rows and snapshots wait behind a rejection that cannot be published. */
  function areRejectionsPublished(): boolean {
    const logs = [...(options.followers()?.rejections.values() ?? [])];
    return logs.every((log) => (log.publishingForMs ?? 0) <= graceMs);
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
    const standby = standbyFor();
    const waitingFor = [
      ...(isLeaving() ? ['the end of this process'] : []),
      // A brief loss of the connection does not matter until the streams fall behind.
      ...(isNatsConnected() || hasStreams ? [] : ['NATS']),
      ...(isDatabaseWithinGrace() && areRowsTaken() ? [] : ['ClickHouse']),
      ...(areRejectionsPublished() ? [] : ['MINER_REJECTED']),
      ...(standby === null ? [] : ['the ingest lease']),
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
        chain: options.chain(),
      },
    };
  };
}

/** Shows readiness for alerts. A standby is as ready as it can be, and has no value. */
export function registerReadinessMetric(registry: Registry, readiness: () => Readiness): void {
  new Gauge({
    name: 'miner_ready',
    help: '1 while `/readyz` says ready; absent for a standby.',
    registers: [registry],
    collect() {
      const { isReady, detail } = readiness();
      if ('standbyFor' in detail) this.remove();
      else this.set(isReady ? 1 : 0);
    },
  });
}
