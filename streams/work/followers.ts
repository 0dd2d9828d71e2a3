import type { Registry } from 'prom-client';
import type { FoldIdentity } from '../../actors/folds/foldIdentity.ts';
import type { InputStreamName } from '../../actors/messages/subjects.ts';
import type {
  ObservationReader,
  OlderActivity,
  OlderEvents,
  ReadOlderDay,
} from '../../actors/pages/olderRows.ts';
import type { Database } from '../../storage/clickhouse/database.ts';
import { createAwaitRows } from '../../storage/reading/awaitRows.ts';
import { createKnownInstallations } from '../../storage/reading/knownInstallations.ts';
import { createObservationReader } from '../../storage/reading/observations.ts';
import { createRecentReadings, type RecentReadings } from '../../storage/reading/recentReadings.ts';
import { createStoredActivity } from '../../storage/reading/storedActivity.ts';
import { createStoredDays } from '../../storage/reading/storedDays.ts';
import { createStoredEvents } from '../../storage/reading/storedEvents.ts';
import type { OldestReadingMs } from '../../storage/rows/readingsTtl.ts';
import { findContinuedReplay } from '../../storage/runs/fills.ts';
import { readLineage } from '../../storage/runs/lineages.ts';
import { readCounted } from '../../storage/runs/mergedRuns.ts';
import { createRunsReader, type ReadRuns } from '../../storage/runs/visibleRuns.ts';
import { createSnapshotStore } from '../../storage/snapshots/snapshots.ts';
import type { EpochHolder } from '../../storage/tables/ingestEpochs.ts';
import { rowTablesOf } from '../../storage/tables/rowTables.ts';
import {
  createStreamFold,
  listFolds,
  type StreamActors,
  streamDefinitions,
} from '../folds/streamDefinitions.ts';
import { createRunHistory, type RunHistory } from '../follower/runHistory.ts';
import {
  createStreamFollower,
  type FollowedHistory,
  type FollowerSinks,
  type StreamFollower,
  type StreamFollowerOptions,
} from '../follower/streamFollower.ts';
import { createStreamVerifier } from '../jetstream/proofs/streamVerifier.ts';
import { createMessageSource } from '../jetstream/source/messageSource.ts';
import type { StreamReaderOptions } from '../jetstream/streamReaderOptions.ts';
import { registerWriterMetrics } from '../metrics/writerMetrics.ts';
import type { StreamPort } from '../nats/streamPort.ts';
import type { MessageCounts } from '../pipeline/messageCounts.ts';
import { createRejectionLog, type RejectionLog } from '../pipeline/rejectionLog.ts';
import { createRowWriter, type RowWriter } from '../pipeline/rowWriter.ts';
import type { StreamFold } from '../pipeline/streamFold.ts';

interface FollowersOptions
  extends Pick<StreamFollowerOptions, 'checkStreams' | 'policy' | 'clock' | 'logger'> {
  readonly jetStream: StreamPort;
  readonly database: Database;
  readonly oldestReadingMs: OldestReadingMs;
  readonly actors: StreamActors;
  readonly counts: MessageCounts;
  /** This process, with the epoch in which it writes; null for a read replica, which restores snapshots and writes nothing. */
  readonly writer: EpochHolder | null;
  /** Whether this process still ingests; omitted by one that only reads. */
  readonly mayPublish?: () => boolean;
  /** Recreates the streams if one was deleted, unless something stored was made from it; omitted by a process that only reads. */
  readonly ensureStreams?: () => Promise<void>;
  readonly registry: Registry;
}

/** The followers of all folded streams, with their readers and writers. */
export interface Followers {
  readonly followers: ReadonlyMap<InputStreamName, StreamFollower>;
  readonly observations: ObservationReader;
  readonly olderEvents: OlderEvents;
  readonly olderActivity: OlderActivity;
  readonly olderDay: ReadOlderDay;
  /** Row writers by stream; empty on a read replica. */
  readonly writers: ReadonlyMap<InputStreamName, RowWriter>;
  /** Rejection logs by stream; empty on a read replica. */
  readonly rejections: ReadonlyMap<InputStreamName, RejectionLog>;
  readonly recent: RecentReadings;
  /** Runs of the histories that this process writes, whether or not they are noted; none on a read replica. */
  writtenRuns(): string[];
}

export function createFollowers(options: FollowersOptions): Followers {
  const { actors, database, oldestReadingMs, registry, writer } = options;
  const readers = listFolds(actors).map(([stream, identity]) => ({
    ...options,
    stream,
    identity,
    verifier: createStreamVerifier({ ...options, stream }),
  }));
  const sinks = new Map(
    writer === null ? [] : readers.map((reader) => [reader.stream, createSinks({ ...reader, writer })]),
  );
  const writers = new Map<InputStreamName, RowWriter>();
  const rejections = new Map<InputStreamName, RejectionLog>();
  for (const [stream, { writer: rows, rejections: log }] of sinks) {
    if (rows !== null) writers.set(stream, rows);
    if (log !== null) rejections.set(stream, log);
  }
  const createReadRuns = (stream: InputStreamName): ReadRuns => {
    const history = sinks.get(stream)?.history;
    if (history !== undefined) return async () => history.visible();
    const { identity } = actors[stream] ?? {};
    return identity === undefined ? async () => [] : createRunsReader({ ...options, stream, identity });
  };
  const readReadingRuns = createReadRuns('MINER_COUNTER');
  const readChainRuns = createReadRuns('MINER_CHAIN');
  const createAwait = (stream: InputStreamName, readRuns: ReadRuns, what: string) =>
    createAwaitRows({ database, writer: writers.get(stream) ?? null, readRuns, what });
  const recent = createRecentReadings({
    // For a process that only reads, another one stores the readings.
    storedThrough: writers.get('MINER_COUNTER')?.storedThrough ?? (() => Number.MAX_SAFE_INTEGER),
  });
  const followers = new Map<InputStreamName, StreamFollower>();
  for (const reader of readers) {
    const { stream } = reader;
    const fold = createStreamFold(stream, actors, { ...options, recent });
    if (fold !== null) followers.set(stream, follow(reader, { fold, sinks: sinks.get(stream) ?? null }));
  }
  registerWriterMetrics(registry, { writers, rejections, recent });
  return {
    followers,
    observations: createObservationReader({
      recent,
      database,
      awaitRows: createAwait('MINER_COUNTER', readReadingRuns, 'the older readings'),
      oldestReadingMs,
      mayHaveReadings: createKnownInstallations({
        database,
        isFolded: (installationId) => actors.MINER_COUNTER.mayHaveReadings(installationId),
        max: actors.MINER_COUNTER.places().max,
      }),
    }),
    olderEvents: createStoredEvents({
      ...options,
      awaitRows: {
        measurement: createAwait('MINER_COUNTER', readReadingRuns, 'the older measurement events'),
        chain: createAwait('MINER_CHAIN', readChainRuns, 'the older chain events'),
      },
    }),
    olderActivity: createStoredActivity({
      ...options,
      writer: writers.get('MINER_CHAIN') ?? null,
      readRuns: readChainRuns,
    }),
    olderDay: createStoredDays({ database, readRuns: readReadingRuns }),
    writers,
    rejections,
    recent,
    writtenRuns: () => [...sinks.values()].flatMap(({ history }) => history.visible().map(({ run }) => run)),
  };
}

/** Everything that reading one of the streams needs. */
interface ReaderOptions extends FollowersOptions, StreamReaderOptions {
  readonly identity: FoldIdentity;
}

interface SinkOptions extends ReaderOptions {
  readonly writer: EpochHolder;
}

/** Where a writing process stores the output of a stream. */
interface Sinks extends FollowerSinks {
  readonly history: RunHistory;
}

function createSinks(options: SinkOptions): Sinks {
  const { stream, ensureStreams } = options;
  const rejections = createRejectionLog({ ...options, ...(ensureStreams && { onFailing: ensureStreams }) });
  const history = createRunHistory(options);
  const hasRows = rowTablesOf(stream).length > 0;
  const writer = hasRows ? createRowWriter({ ...options, run: history.run }) : null;
  return {
    end: history.end,
    history,
    writer,
    rejections,
    correct: async (correction) => {
      writer?.resumeAfter(correction.position);
      await rejections.resume();
      return history.correct(correction, writer);
    },
  };
}

interface Followed {
  readonly fold: StreamFold;
  /** Null on a read replica. */
  readonly sinks: Sinks | null;
}

function follow(options: ReaderOptions, { fold, sinks }: Followed): StreamFollower {
  const { stream, database, checkStreams } = options;
  const onMissing = async () => {
    await (options.ensureStreams ?? checkStreams)();
  };
  return createStreamFollower({
    ...options,
    source: createMessageSource({
      ...options,
      onMissing,
      readStored: streamDefinitions[stream].createStoredReader?.(options),
    }),
    fold,
    snapshots: createSnapshotStore(database),
    sinks,
    history: sinks?.history ?? createReadHistory(options),
    onMissing,
  });
}

/** The history of a process that only reads: another process has noted it last. */
function createReadHistory({ database, stream, identity }: ReaderOptions): FollowedHistory {
  /** The replay whose result was restored; empty without one. */
  let replay = '';
  return {
    chooseFrom: async () => {
      replay = await findContinuedReplay(database, stream, identity);
      return readCounted(database, await readLineage(database, stream, identity));
    },
    hasReplay: async () => (await findContinuedReplay(database, stream, identity)) !== replay,
  };
}
