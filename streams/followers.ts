import type { Registry } from 'prom-client';
import type { OlderEvents } from '../actors/feed/olderEvents.ts';
import { type InputStreamName, inputStreamNames } from '../actors/messages/subjects.ts';
import type { OlderActivity } from '../actors/views/chain/olderActivity.ts';
import type { Database } from '../storage/database.ts';
import { createReaderEventsStored, createWriterEventsStored } from '../storage/eventsStored.ts';
import { createKnownInstallations } from '../storage/knownInstallations.ts';
import { findCounted } from '../storage/lineages.ts';
import type { ObservationReader } from '../storage/observationReader.ts';
import {
  createObservationReader,
  createStoredThroughQuery,
  createWriterStoredThrough,
} from '../storage/observations.ts';
import { createRecentReadings, type RecentReadings } from '../storage/recentReadings.ts';
import type { OldestRowMs } from '../storage/rowsTtl.ts';
import { findMessageColumn } from '../storage/rowTables.ts';
import { createSnapshotStore } from '../storage/snapshots.ts';
import { createStoredActivity } from '../storage/storedActivity.ts';
import { createStoredEvents } from '../storage/storedEvents.ts';
import type { EpochHolder } from '../storage/tables/ingestEpochs.ts';
import type { ActiveTables } from '../storage/tables.ts';
import { createRunsReader } from '../storage/visibleRuns.ts';
import { createStoredReadings } from './counter/storedReadings.ts';
import { createRowRemoval } from './follower/rowRemoval.ts';
import { createRunHistory, type RunHistory } from './follower/runHistory.ts';
import {
  createStreamFollower,
  type FollowerSinks,
  type StreamFollower,
  type StreamFollowerOptions,
} from './follower/streamFollower.ts';
import type { JetStream } from './jetstream/natsLink.ts';
import { createRejectedStream, type RejectedStream } from './jetstream/rejectedStream.ts';
import { createMessageSource } from './jetstream/source/messageSource.ts';
import { createStreamVerifier } from './jetstream/sourceVerification.ts';
import type { StreamReaderOptions } from './jetstream/streamReaderOptions.ts';
import { registerWriterMetrics } from './metrics/writerMetrics.ts';
import type { MessageCounts } from './pipeline/messageCounts.ts';
import { createRejectionLog, type RejectionLog } from './pipeline/rejectionLog.ts';
import { createRowWriter, type RowWriter } from './pipeline/rowWriter.ts';
import type { StreamFold } from './pipeline/streamFold.ts';
import type { FoldedBatchReport } from './pipeline/streamPipeline.ts';
import { createStreamFold, type StreamActors, streamDefinitions } from './streamDefinitions.ts';

interface FollowersOptions
  extends JetStream,
    Pick<StreamFollowerOptions, 'checkStreams' | 'policy' | 'clock' | 'logger'> {
  readonly database: Database;
  readonly tables: ActiveTables;
  /** Switches to the tables of a generation that a replay has activated. */
  readonly useGeneration: (generation: number) => void;
  /** Tables with the readings whose messages have left the stream: always the active ones, even while others are filled. */
  readonly storedTables: ActiveTables;
  readonly oldestRowMs: OldestRowMs;
  readonly actors: StreamActors;
  readonly counts: MessageCounts;
  /** This process, with the epoch in which it writes; null for a read replica, which restores snapshots and writes nothing. */
  readonly writer: EpochHolder | null;
  /** Everything that the stream of readings held at the start is folded, and its state and rows are stored. */
  readonly onReadingsSaved: () => void;
  /** Whether this process still ingests; omitted by one that only reads. */
  readonly mayPublish?: () => boolean;
  /** Recreates the streams if one was deleted, unless something stored was made from it; omitted by a process that only reads. */
  readonly ensureStreams?: () => Promise<void>;
  readonly onBatch?: (stream: InputStreamName, batch: FoldedBatchReport) => void;
  readonly registry: Registry;
}

/** The followers of all folded streams, with their readers and writers. */
export interface Followers {
  readonly followers: ReadonlyMap<InputStreamName, StreamFollower>;
  readonly observations: ObservationReader;
  readonly olderEvents: OlderEvents;
  readonly olderActivity: OlderActivity;
  /** Row writers by stream; empty on a read replica. */
  readonly writers: ReadonlyMap<InputStreamName, RowWriter>;
  /** Rejection logs by stream; empty on a read replica. */
  readonly rejections: ReadonlyMap<InputStreamName, RejectionLog>;
  readonly recent: RecentReadings;
}

export function createFollowers(options: FollowersOptions): Followers {
  const { actors, database, tables, oldestRowMs, registry, writer } = options;
  const followed = inputStreamNames.filter((stream) => actors[stream] !== null);
  const rejected = createRejectedStream(options);
  const readers = new Map(
    followed.map((stream) => [
      stream,
      { ...options, stream, verifier: createStreamVerifier({ ...options, stream }) },
    ]),
  );
  const sinks = new Map(
    writer === null
      ? []
      : [...readers].map(([stream, reader]) => [stream, createSinks({ ...reader, writer, rejected })]),
  );
  const writers = new Map<InputStreamName, RowWriter>();
  const rejections = new Map<InputStreamName, RejectionLog>();
  for (const [stream, { writer: rows, rejections: log }] of sinks) {
    if (rows !== null) writers.set(stream, rows);
    if (log !== null) rejections.set(stream, log);
  }
  const readingWriter = writers.get('MINER_COUNTER') ?? null;
  const chainWriter = writers.get('MINER_CHAIN') ?? null;
  const chainHistory = sinks.get('MINER_CHAIN')?.history ?? null;
  const readChainRuns =
    chainHistory === null
      ? createRunsReader({
          ...options,
          stream: 'MINER_CHAIN',
          identity: actors.MINER_CHAIN?.identity ?? null,
        })
      : async () => chainHistory.visible();
  const stored =
    readingWriter === null
      ? createStoredThroughQuery(database, tables, oldestRowMs)
      : createWriterStoredThrough(readingWriter);
  const recent = createRecentReadings(stored);
  const followers = new Map<InputStreamName, StreamFollower>();
  for (const [stream, reader] of readers) {
    const fold = createStreamFold(stream, actors, { ...options, recent });
    if (fold !== null) followers.set(stream, follow(reader, { fold, sinks: sinks.get(stream) ?? null }));
  }
  registerWriterMetrics(registry, { writers, rejections, recent });
  return {
    followers,
    observations: createObservationReader({
      recent,
      database,
      tables,
      isStoredThrough: stored.isStoredThrough,
      oldestRowMs,
      mayHaveReadings: createKnownInstallations({
        database,
        tables,
        isFolded: (installationId) => actors.MINER_COUNTER.mayHaveReadings(installationId),
        max: actors.MINER_COUNTER.places().max,
      }),
    }),
    olderEvents: createStoredEvents({
      ...options,
      eventsStored:
        readingWriter === null
          ? createReaderEventsStored({ ...options, readChainRuns })
          : createWriterEventsStored({ measurement: readingWriter, chain: chainWriter, readChainRuns }),
    }),
    olderActivity: createStoredActivity({ ...options, writer: chainWriter, readRuns: readChainRuns }),
    writers,
    rejections,
    recent,
  };
}

/** What reading one of the streams needs. */
type ReaderOptions = FollowersOptions & StreamReaderOptions;

interface SinkOptions extends ReaderOptions {
  readonly writer: EpochHolder;
  readonly rejected: RejectedStream;
}

/** Where a writing process stores the output of a stream. */
interface Sinks extends FollowerSinks {
  /** Null for a stream whose rows no lineage selects. */
  readonly history: RunHistory | null;
}

function createSinks(options: SinkOptions): Sinks {
  const { stream, actors, database, tables, ensureStreams } = options;
  const rejections = createRejectionLog({ ...options, ...(ensureStreams && { onFailing: ensureStreams }) });
  const { identity } = actors[stream] ?? {};
  const history =
    stream === 'MINER_CHAIN' && identity !== undefined ? createRunHistory({ ...options, identity }) : null;
  const hasRows = findMessageColumn(stream) !== null;
  const writer = hasRows ? createRowWriter({ ...options, run: () => history?.run() ?? '' }) : null;
  const removal = createRowRemoval({
    ...options,
    ...streamDefinitions[stream],
    snapshots: createSnapshotStore({ database, tables }),
  });
  return {
    ...(history && { end: history.end }),
    history,
    writer,
    rejections,
    correct: async (correction) => {
      writer?.resumeAfter(correction.position);
      await rejections.resume();
      return history === null || writer === null ? removal(correction) : history.correct(correction, writer);
    },
  };
}

interface Followed {
  readonly fold: StreamFold;
  /** Null on a read replica. */
  readonly sinks: Sinks | null;
}

function follow(options: ReaderOptions, { fold, sinks }: Followed): StreamFollower {
  const { onBatch, ...shared } = options;
  const { stream, database, tables, checkStreams, onReadingsSaved } = shared;
  const onMissing = async () => {
    await (options.ensureStreams ?? checkStreams)();
  };
  return createStreamFollower({
    ...shared,
    source: createMessageSource({
      ...options,
      onMissing,
      ...(stream === 'MINER_COUNTER' && {
        readStored: createStoredReadings({ ...options, tables: options.storedTables }),
      }),
    }),
    fold,
    snapshots: createSnapshotStore({ database, tables }),
    sinks,
    ...(sinks?.history && { run: sinks.history.run }),
    chooseFrom: sinks?.history?.chooseFrom ?? (() => findCounted(database, stream, fold.identity)),
    ...(stream === 'MINER_COUNTER' && { onCurrentSaved: onReadingsSaved }),
    onMissing,
    ...(onBatch && { onBatch: (batch: FoldedBatchReport) => onBatch(stream, batch) }),
  });
}
