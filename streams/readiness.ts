import { Gauge, type Registry } from 'prom-client';
import type { Clock } from '../actors/clock.ts';
import type { Readiness } from '../actors/views/readiness.ts';
import type { LeaseHolder } from '../machines/leaseSetup.ts';
import type { StreamFollower } from './follower/streamFollower.ts';
import type { Followers } from './followers.ts';
import type { LostStream } from './ingest/lostStreams.ts';

const noFollowers: Followers['followers'] = new Map();

interface ReadinessOptions {
  readonly clock: Clock;
  /**
   * A process is not ready if an input lags, spans are refused, ClickHouse does not answer or takes no rows, or a rejection cannot be published, for
   * longer than this. Only old pages need ClickHouse: an outage that is shorter does not take a process out of service.
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
  /** Streams that what is stored was made from, and that the last look did not find. */
  readonly lostStreams: () => readonly LostStream[];
  /** The process is about to end. */
  readonly isLeaving: () => boolean;
  /**
   * Why views of the chain are unavailable, in more detail than response bodies. It does not make a process unready, since another one
   * would be in the same condition.
   */
  readonly chain: () => unknown;
  /** Since when published spans of the chain have been refused (epoch milliseconds); null while they are folded. */
  readonly spansRefusedSinceMs: () => number | null;
}

/**
 * Whether responses are complete and fresh: every stream is restored, caught up and current, and folded rows are being stored, as are the
 * rejections that they wait for. It names what the process is waiting for.
 */
export function createReadiness(options: ReadinessOptions): () => Readiness {
  const { clock, graceMs, isNatsConnected, isDatabaseReachable, isDatabaseWithinGrace } = options;
  const { standbyFor, isLeaving } = options;

  /** Without streams that were found again since. */
  function findLost(followers: Followers['followers']): readonly LostStream[] {
    return options.lostStreams().filter(({ stream }) => {
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

  /** What is published is not what is folded. */
  function areSpansFolded(): boolean {
    const sinceMs = options.spansRefusedSinceMs();
    return sinceMs === null || clock.nowMs() - sinceMs <= graceMs;
  }

  return () => {
    const followers = options.followers()?.followers ?? noFollowers;
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
      ...(isDatabaseWithinGrace() && areRowsTaken() ? [] : ['ClickHouse']),
      ...(areRejectionsPublished() ? [] : ['MINER_REJECTED']),
      ...(areSpansFolded() ? [] : ['a span that can be folded']),
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
        lostStreams,
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
