import type { Registry } from 'prom-client';
import type { OlderEvents } from '../actors/feed/olderEvents.ts';
import { type InputStreamName, inputStreamNames } from '../actors/messages/subjects.ts';
import type { OlderActivity } from '../actors/views/chain/olderActivity.ts';
import type { Database } from '../storage/database.ts';
import { deleteRowsAbove } from '../storage/deleteRowsAbove.ts';
import { createReaderEventsStored, createWriterEventsStored } from '../storage/eventsStored.ts';
import { createKnownInstallations } from '../storage/knownInstallations.ts';
import type { ObservationReader } from '../storage/observationReader.ts';
import {
  createObservationReader,
  createStoredThroughQuery,
  createWriterStoredThrough,
} from '../storage/observations.ts';
import { createRecentReadings, type RecentReadings } from '../storage/recentReadings.ts';
import type { OldestRowMs } from '../storage/rowsTtl.ts';
import { createSnapshotStore } from '../storage/snapshots.ts';
import { createStoredActivity } from '../storage/storedActivity.ts';
import { createStoredEvents } from '../storage/storedEvents.ts';
import type { ActiveTables } from '../storage/tables.ts';
import { createStoredReadings } from './counter/storedReadings.ts';
import { isHistoryReplaced } from './follower/storedHistory.ts';
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
  /** A read replica restores snapshots and writes nothing. */
  readonly writes: boolean;
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
  const { actors, database, tables, oldestRowMs, registry, writes } = options;
  const followed = inputStreamNames.filter((stream) => actors[stream] !== null);
  const rejected = createRejectedStream(options);
  const readers = new Map(
    followed.map((stream) => [
      stream,
      { ...options, stream, verifier: createStreamVerifier({ ...options, stream }) },
    ]),
  );
  const sinks = new Map(
    writes ? [...readers].map(([stream, reader]) => [stream, createSinks({ ...reader, rejected })]) : [],
  );
  const writers = new Map<InputStreamName, RowWriter>();
  const rejections = new Map<InputStreamName, RejectionLog>();
  for (const [stream, { writer, rejections: log }] of sinks) {
    if (writer !== null) writers.set(stream, writer);
    if (log !== null) rejections.set(stream, log);
  }
  const readingWriter = writers.get('MINER_COUNTER') ?? null;
  const chainWriter = writers.get('MINER_CHAIN') ?? null;
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
          ? createReaderEventsStored(database, tables, oldestRowMs)
          : createWriterEventsStored({ measurement: readingWriter, chain: chainWriter }),
    }),
    olderActivity: createStoredActivity({ ...options, writer: chainWriter }),
    writers,
    rejections,
    recent,
  };
}

/** What reading one of the streams needs. */
type ReaderOptions = FollowersOptions & StreamReaderOptions;

interface SinkOptions extends ReaderOptions {
  readonly rejected: RejectedStream;
}

function createSinks(options: SinkOptions): FollowerSinks {
  const { stream, database, tables, logger, ensureStreams } = options;
  const { readRowOrigins, deleteCutOffRows } = streamDefinitions[stream];
  const rejections = createRejectionLog({ ...options, ...(ensureStreams && { onFailing: ensureStreams }) });
  const writer = readRowOrigins === null ? null : createRowWriter(options);
  return {
    writer,
    rejections,
    resumeAfter: async (position) => {
      writer?.resumeAfter(position);
      await rejections.resume();
    },
    ...(readRowOrigins !== null && {
      isStoredHistoryReplaced: (foldedThrough: number) =>
        isHistoryReplaced({
          ...options,
          readOrigins: () => readRowOrigins(database, tables()),
          foldedThrough,
        }),
    }),
    removeAbove: async (position, deleteSnapshots) => {
      const removed = await deleteRowsAbove(database, {
        tables: tables(),
        stream,
        position,
        deleteSnapshots,
      });
      if (removed > 0)
        logger.info(
          { stream, position, removed },
          'rows of messages that are no longer in the stream were removed',
        );
    },
    ...(deleteCutOffRows !== null && {
      removeCutOff: (position: number) => deleteCutOffRows(database, tables(), position),
    }),
  };
}

interface Followed {
  readonly fold: StreamFold;
  /** Null on a read replica. */
  readonly sinks: FollowerSinks | null;
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
    ...(stream === 'MINER_COUNTER' && { onCurrentSaved: onReadingsSaved }),
    onMissing,
    ...(onBatch && { onBatch: (batch: FoldedBatchReport) => onBatch(stream, batch) }),
  });
}
