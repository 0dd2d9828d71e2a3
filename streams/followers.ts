import type { JetStreamClient, JetStreamManager } from '@nats-io/jetstream';
import type { NatsConnection } from '@nats-io/transport-node';
import type { Logger } from 'pino';
import type { Registry } from 'prom-client';
import type { ChainActors } from '../actors/chain/chainActors.ts';
import type { Clock } from '../actors/clock.ts';
import type { OlderEvents } from '../actors/feed/olderEvents.ts';
import { installationsMax } from '../actors/installationsMax.ts';
import type { InputStreamName } from '../actors/messages/subjects.ts';
import type { SettlementActors } from '../actors/settlement/settlementActors.ts';
import type { OlderActivity } from '../actors/views/chain/olderActivity.ts';
import type { CounterActors } from '../actors/wheel/counterActors.ts';
import type { Database } from '../storage/database.ts';
import { deleteChainRowsAbove, deleteCutOffRows, deleteRowsAbove } from '../storage/deleteRowsAbove.ts';
import { createReaderEventsStored, createWriterEventsStored } from '../storage/eventsStored.ts';
import { createKnownInstallations, type MayHaveReadings } from '../storage/knownInstallations.ts';
import type { ObservationReader } from '../storage/observationReader.ts';
import { createObservationReader, createStoredThroughQuery } from '../storage/observations.ts';
import { createRecentReadings, type RecentReadings } from '../storage/recentReadings.ts';
import type { OldestRowMs } from '../storage/rowsTtl.ts';
import { createSnapshotStore } from '../storage/snapshots.ts';
import { createStoredActivity } from '../storage/storedActivity.ts';
import { createStoredEvents } from '../storage/storedEvents.ts';
import type { ActiveTables } from '../storage/tables.ts';
import { createChainFold } from './chain/chainFold.ts';
import { readChainRowOrigins } from './chain/chainRowOrigins.ts';
import { createCounterFold } from './counter/counterFold.ts';
import { readReadingRowOrigins } from './counter/readingRowOrigins.ts';
import { createStoredReadings } from './counter/storedReadings.ts';
import { isHistoryReplaced } from './follower/storedHistory.ts';
import { createStreamFollower, type FollowerSinks, type StreamFollower } from './follower/streamFollower.ts';
import { createRejectedStream, type RejectedStream } from './jetstream/rejectedStream.ts';
import { createMessageSource } from './jetstream/source/messageSource.ts';
import { registerChainMetrics } from './metrics/chainMetrics.ts';
import { registerWriterMetrics } from './metrics/writerMetrics.ts';
import type { SnapshotPolicy } from './operators/snapshotMarks.ts';
import type { MessageCounts } from './pipeline/messageCounts.ts';
import { createRejectionLog, type RejectionLog } from './pipeline/rejectionLog.ts';
import { createRowWriter, type RowWriter } from './pipeline/rowWriter.ts';
import type { StreamFold } from './pipeline/streamFold.ts';
import type { FoldedBatchReport } from './pipeline/streamPipeline.ts';
import { createSettlementFold } from './settlement/settlementFold.ts';

interface FollowersOptions {
  readonly connection: NatsConnection;
  readonly js: JetStreamClient;
  readonly jsm: JetStreamManager;
  readonly database: Database;
  readonly tables: ActiveTables;
  /** Makes the tables those of a generation that a replay has activated. */
  readonly useGeneration: (generation: number) => void;
  /** Tables that hold the readings whose messages have left the stream: the active ones, also while others are being filled. */
  readonly storedTables: ActiveTables;
  readonly oldestRowMs: OldestRowMs;
  readonly counters: CounterActors;
  readonly settlements: SettlementActors;
  /** Null when no contracts are configured. */
  readonly chain: ChainActors | null;
  readonly counts: MessageCounts;
  /** A read replica restores snapshots and writes nothing. */
  readonly writes: boolean;
  /** A current snapshot of a stream was saved: its state and rows are stored, and everything that the stream held is folded. */
  readonly onCurrentSaved?: (stream: InputStreamName) => void;
  /** Whether this process still ingests; omitted by one that only reads. */
  readonly mayPublish?: () => boolean;
  /** @throws StreamsLost when what is stored was made from a stream that is gone. */
  readonly checkStreams: () => Promise<unknown>;
  /** Recreates the streams if one was deleted, unless something stored was made from it; omitted by a process that only reads. */
  readonly ensureStreams?: () => Promise<void>;
  /** Called with what each batch took; omitted where nobody asks. */
  readonly onBatch?: (stream: InputStreamName, batch: FoldedBatchReport) => void;
  readonly policy: SnapshotPolicy;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly registry: Registry;
}

/** The followers of all folded streams, and what reads and stores for them. */
export interface Followers {
  readonly followers: ReadonlyMap<InputStreamName, StreamFollower>;
  readonly observations: ObservationReader;
  readonly olderEvents: OlderEvents;
  readonly olderActivity: OlderActivity;
  /** By the stream whose rows they write; none on a read replica. */
  readonly writers: ReadonlyMap<InputStreamName, RowWriter>;
  /** By the stream whose rejections they publish; none on a read replica. */
  readonly rejections: ReadonlyMap<InputStreamName, RejectionLog>;
  readonly recent: RecentReadings;
}

export function createFollowers(options: FollowersOptions): Followers {
  const { counts, chain } = options;
  const sinkOptions = { ...options, rejected: createRejectedStream(options) };
  const counterSinks = options.writes ? createRowSinks(sinkOptions, 'MINER_COUNTER') : null;
  const counter =
    counterSinks === null
      ? createReplicaCounterStream(options)
      : createWriterCounterStream(options, counterSinks.writer);
  const settlementSinks = options.writes ? createSettlementSinks(sinkOptions) : null;
  const settlementFold = createSettlementFold({ actors: options.settlements, counts });
  const followers = new Map<InputStreamName, StreamFollower>([
    ['MINER_COUNTER', follow(options, 'MINER_COUNTER', counter.fold, counterSinks)],
    ['MINER_PIPELINE', follow(options, 'MINER_PIPELINE', settlementFold, settlementSinks)],
  ]);
  const chainSinks = options.writes && chain !== null ? createRowSinks(sinkOptions, 'MINER_CHAIN') : null;
  if (chain !== null) {
    const chainCounts = registerChainMetrics(options.registry, chain);
    const chainFold = createChainFold({ actors: chain, counts, chainCounts, logger: options.logger });
    followers.set('MINER_CHAIN', follow(options, 'MINER_CHAIN', chainFold, chainSinks));
  }
  const writers = new Map<InputStreamName, RowWriter>();
  const rejections = new Map<InputStreamName, RejectionLog>();
  for (const [stream, sinks] of [
    ['MINER_COUNTER', counterSinks],
    ['MINER_PIPELINE', settlementSinks],
    ['MINER_CHAIN', chainSinks],
  ] as const) {
    if (sinks?.writer != null) writers.set(stream, sinks.writer);
    if (sinks?.rejections != null) rejections.set(stream, sinks.rejections);
  }
  registerWriterMetrics(options.registry, { writers, rejections, recent: counter.recent });
  return {
    followers,
    observations: counter.observations,
    olderEvents: createStoredEvents({
      ...options,
      eventsStored:
        counterSinks === null
          ? createReaderEventsStored(options.database, options.tables, options.oldestRowMs)
          : createWriterEventsStored({ measurement: counterSinks.writer, chain: chainSinks?.writer ?? null }),
    }),
    olderActivity: createStoredActivity({ ...options, writer: chainSinks?.writer ?? null }),
    writers,
    rejections,
    recent: counter.recent,
  };
}

interface SinkOptions extends FollowersOptions {
  readonly rejected: RejectedStream;
}

/** Sinks of a stream with rows. */
interface RowSinks extends FollowerSinks {
  readonly writer: RowWriter;
}

/** What is particular to the rows of a stream. */
const rowKinds = {
  MINER_COUNTER: { deleteAbove: deleteRowsAbove, readOrigins: readReadingRowOrigins },
  MINER_CHAIN: { deleteAbove: deleteChainRowsAbove, readOrigins: readChainRowOrigins },
} as const;

function createRowSinks(options: SinkOptions, stream: keyof typeof rowKinds): RowSinks {
  const { database, tables, jsm, logger } = options;
  const { deleteAbove, readOrigins } = rowKinds[stream];
  const rejections = createRejections(options, stream);
  const writer = createRowWriter({ ...options, stream });
  return {
    writer,
    rejections,
    resumeAfter: async (position) => {
      writer.resumeAfter(position);
      await rejections.resume();
    },
    isStoredHistoryReplaced: (foldedThrough) =>
      isHistoryReplaced({
        database,
        jsm,
        stream,
        readOrigins: () => readOrigins(database, tables()),
        foldedThrough,
      }),
    removeAbove: async (position, deleteSnapshots) => {
      const removed = await deleteAbove(database, tables(), position, deleteSnapshots);
      if (removed > 0)
        logger.info(
          { stream, position, removed },
          'rows of messages that are no longer in the stream were removed',
        );
    },
    ...(stream === 'MINER_COUNTER' && {
      removeCutOff: (position: number) => deleteCutOffRows(database, tables(), position),
    }),
  };
}

/** The stream has no rows: its state is stored in snapshots alone. */
function createSettlementSinks(options: SinkOptions): FollowerSinks {
  const rejections = createRejections(options, 'MINER_PIPELINE');
  return {
    writer: null,
    rejections,
    resumeAfter: () => rejections.resume(),
    removeAbove: (_, deleteSnapshots) => deleteSnapshots(),
  };
}

function createRejections(options: SinkOptions, stream: InputStreamName): RejectionLog {
  const { ensureStreams, mayPublish } = options;
  return createRejectionLog({
    ...options,
    stream,
    ...(mayPublish && { mayPublish }),
    ...(ensureStreams && { onFailing: ensureStreams }),
  });
}

interface CounterStream {
  readonly fold: StreamFold;
  readonly observations: ObservationReader;
  readonly recent: RecentReadings;
}

function createWriterCounterStream(options: FollowersOptions, writer: RowWriter): CounterStream {
  const { database, tables, oldestRowMs } = options;
  const recent = createRecentReadings({ storedThrough: () => writer.storedThrough() });
  return {
    fold: createCounterFold({ actors: options.counters, recent, counts: options.counts }),
    observations: createObservationReader({
      recent,
      database,
      tables,
      isStoredThrough: ({ position }) => position <= writer.storedThrough(),
      oldestRowMs,
      mayHaveReadings: createMayHaveReadings(options),
    }),
    recent,
  };
}

function createReplicaCounterStream(options: FollowersOptions): CounterStream {
  const { database, tables, oldestRowMs } = options;
  const stored = createStoredThroughQuery(database, tables, oldestRowMs);
  const recent = createRecentReadings({ storedThrough: () => Number.MAX_SAFE_INTEGER });
  return {
    fold: createCounterFold({
      actors: options.counters,
      recent,
      counts: options.counts,
      onRestored: stored.restoredAt,
    }),
    observations: createObservationReader({
      recent,
      database,
      tables,
      isStoredThrough: stored.isStoredThrough,
      oldestRowMs,
      mayHaveReadings: createMayHaveReadings(options),
    }),
    recent,
  };
}

function createMayHaveReadings({ counters, database, tables }: FollowersOptions): MayHaveReadings {
  const isFolded = (installationId: string) => counters.hasReadings(installationId);
  return createKnownInstallations({ database, tables, isFolded, max: installationsMax });
}

function follow(
  options: FollowersOptions,
  stream: InputStreamName,
  fold: StreamFold,
  sinks: FollowerSinks | null,
): StreamFollower {
  const { connection, js, jsm, database, tables, policy, clock, logger, checkStreams, onBatch } = options;
  const onMissing = async () => {
    await (options.ensureStreams ?? checkStreams)();
  };
  const source = createMessageSource({
    connection,
    js,
    jsm,
    stream,
    clock,
    logger,
    onMissing,
    ...(stream === 'MINER_COUNTER' && {
      readStored: createStoredReadings({ ...options, tables: options.storedTables }),
    }),
  });
  const snapshots = createSnapshotStore({ database, tables, logger });
  const onSaved = (isCurrent: boolean) => {
    if (isCurrent) options.onCurrentSaved?.(stream);
  };
  return createStreamFollower({
    stream,
    source,
    jsm,
    fold,
    snapshots,
    sinks,
    onSaved,
    // A replay is one of readings.
    ...(stream === 'MINER_COUNTER' && { useGeneration: options.useGeneration }),
    checkStreams,
    onMissing,
    ...(onBatch && { onBatch: (batch: FoldedBatchReport) => onBatch(stream, batch) }),
    policy,
    clock,
    logger,
  });
}
