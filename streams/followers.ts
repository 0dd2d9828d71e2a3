import type { JetStreamClient, JetStreamManager } from '@nats-io/jetstream';
import type { NatsConnection } from '@nats-io/transport-node';
import type { Logger } from 'pino';
import type { Registry } from 'prom-client';
import type { ChainActors } from '../actors/chain/chainActors.ts';
import type { InputStreamName } from '../actors/messages/subjects.ts';
import type { PipelineActors } from '../actors/settlement/pipelineActors.ts';
import type { Clock } from '../actors/views/clock.ts';
import type { OlderEvents } from '../actors/views/views.ts';
import type { CounterActors } from '../actors/wheel/counterActors.ts';
import { decodeCounter } from '../actors/wheel/decodeCounter.ts';
import type { Database } from '../storage/database.ts';
import { deleteChainRowsAbove, deleteRowsAbove } from '../storage/deleteRowsAbove.ts';
import { createEventsSeen, createEventsWritten } from '../storage/eventsStored.ts';
import type { ObservationReader } from '../storage/observationReader.ts';
import {
  createObservationReader,
  createStoredThroughQuery,
  newestReading,
  readStored,
} from '../storage/observations.ts';
import { createRecentReadings, type RecentReadings } from '../storage/recentReadings.ts';
import { hasOpenRemoval } from '../storage/removals.ts';
import { createRowWriter, type RowWriter } from '../storage/rowWriter.ts';
import { createSnapshotStore } from '../storage/snapshots.ts';
import { createStoredEvents } from '../storage/storedEvents.ts';
import type { ActiveTables } from '../storage/tables.ts';
import { createChainStreamFold } from './chain/chainFold.ts';
import { registerChainMetrics } from './chainMetrics.ts';
import { createCounterFold } from './counter/counterFold.ts';
import type { FoldWriting } from './foldWriting.ts';
import { createMessageSource } from './jetstream/messageSource.ts';
import { createRejectionLog, type RejectionLog } from './jetstream/rejectionLog.ts';
import type { MessageCounts } from './messageCounts.ts';
import { createPipelineFold } from './settlement/pipelineFold.ts';
import {
  createStreamFollower,
  type FollowedFold,
  type SnapshotPolicy,
  type StreamFollower,
} from './streamFollower.ts';
import { registerWriterMetrics } from './writerMetrics.ts';

export interface FollowersParts {
  readonly connection: NatsConnection;
  readonly js: JetStreamClient;
  readonly jsm: JetStreamManager;
  readonly database: Database;
  readonly tables: ActiveTables;
  /** Tables that hold the readings whose messages have left the stream: the active ones, also while others are being filled. */
  readonly storedTables: ActiveTables;
  readonly counters: CounterActors;
  readonly pipeline: PipelineActors;
  /** Null when no contracts are configured. */
  readonly chain: ChainActors | null;
  readonly counts: MessageCounts;
  /** A read replica restores snapshots and writes nothing. */
  readonly writes: boolean;
  /** A snapshot of a stream was saved: the state is stored with all rows that go with it. */
  readonly onSaved?: (stream: InputStreamName) => void;
  /** Whether this process still ingests; left out by one that only reads. */
  readonly mayPublish?: () => boolean;
  /** Creates the streams again, should one vanish; left out by a process that only reads. */
  readonly ensureStreams?: () => Promise<void>;
  readonly policy: SnapshotPolicy;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly registry: Registry;
}

/** The followers of all folded streams, and what they hand on to. */
export interface Followers {
  readonly followers: ReadonlyMap<InputStreamName, StreamFollower>;
  readonly observations: ObservationReader;
  readonly olderEvents: OlderEvents;
  /** By the stream whose rows they write; none on a read replica. */
  readonly writers: ReadonlyMap<InputStreamName, RowWriter>;
  close(): Promise<void>;
}

export function createFollowers(parts: FollowersParts): Followers {
  const counterWriting = parts.writes
    ? {
        ...createWriting(parts, 'MINER_COUNTER', deleteRowsAbove),
        isStoredElsewise: () => isNewestReadingElsewise(parts),
      }
    : null;
  const counter = counterWriting === null ? readingCounter(parts) : writingCounter(parts, counterWriting);
  const pipelineRejections = parts.writes ? rejectionLog(parts, 'MINER_PIPELINE') : null;
  const pipelineFold = createPipelineFold({
    actors: parts.pipeline,
    counts: parts.counts,
    rejections: pipelineRejections,
  });
  const followers = new Map<InputStreamName, StreamFollower>([
    ['MINER_COUNTER', follow(parts, 'MINER_COUNTER', counter.fold, boundsOf(counterWriting))],
    ['MINER_PIPELINE', follow(parts, 'MINER_PIPELINE', pipelineFold, [pipelineRejections])],
  ]);
  const chainWriting =
    parts.writes && parts.chain !== null ? createWriting(parts, 'MINER_CHAIN', deleteChainRowsAbove) : null;
  if (parts.chain !== null) {
    const chainFold = createChainStreamFold({
      actors: parts.chain,
      counts: parts.counts,
      chainCounts: registerChainMetrics(parts.registry, parts.chain),
      writing: chainWriting,
      logger: parts.logger,
    });
    followers.set('MINER_CHAIN', follow(parts, 'MINER_CHAIN', chainFold, boundsOf(chainWriting)));
  }
  const writers = new Map<InputStreamName, RowWriter>();
  if (counterWriting !== null) writers.set('MINER_COUNTER', counterWriting.writer);
  if (chainWriting !== null) writers.set('MINER_CHAIN', chainWriting.writer);
  const rejections = new Map<InputStreamName, RejectionLog>();
  for (const [stream, log] of [
    ['MINER_COUNTER', counterWriting?.rejections],
    ['MINER_PIPELINE', pipelineRejections],
    ['MINER_CHAIN', chainWriting?.rejections],
  ] as const)
    if (log != null) rejections.set(stream, log);
  registerWriterMetrics(parts.registry, { writers, rejections, recent: counter.recent });
  return {
    followers,
    observations: counter.observations,
    olderEvents: createStoredEvents({
      ...parts,
      eventsStored:
        counterWriting === null
          ? createEventsSeen(parts.database, parts.tables)
          : createEventsWritten({ measurement: counterWriting.writer, chain: chainWriting?.writer ?? null }),
    }),
    writers,
    close: async () => {
      await Promise.all([
        ...[counterWriting, chainWriting].flatMap((one) => [one?.writer.close(), one?.rejections.close()]),
        pipelineRejections?.close(),
      ]);
    },
  };
}

/** Something that may ask the source of a stream to wait. */
type Bounded = Pick<RowWriter | RejectionLog, 'hasRoom' | 'room'> | null;

function boundsOf(writing: FoldWriting | null): readonly Bounded[] {
  return writing === null ? [] : [writing.writer, writing.rejections];
}

function createWriting(
  parts: FollowersParts,
  stream: InputStreamName,
  deleteAbove: typeof deleteRowsAbove,
): FoldWriting {
  const { database, tables, logger } = parts;
  const writer = createRowWriter(parts);
  return {
    writer,
    rejections: rejectionLog(parts, stream),
    removeRowsAbove: async (position) => {
      const removed = await deleteAbove(database, tables(), position);
      if (removed > 0)
        logger.info(
          { stream, position, removed },
          'rows of messages that the stream does not hold any more were removed',
        );
    },
  };
}

function rejectionLog(parts: FollowersParts, stream: InputStreamName): RejectionLog {
  const { ensureStreams, mayPublish } = parts;
  return createRejectionLog({
    ...parts,
    stream,
    ...(mayPublish && { mayPublish }),
    ...(ensureStreams && { onFailing: ensureStreams }),
  });
}

/** JetStream can lose its end after rows were stored, and use the sequences again: then the newest row is of another message. */
async function isNewestReadingElsewise({ database, tables, jsm }: FollowersParts): Promise<boolean> {
  if (await hasOpenRemoval(database)) return true;
  const newest = await newestReading(database, tables());
  if (newest === null) return false;
  const { position, telemetryId } = newest;
  const { state } = await jsm.streams.info('MINER_COUNTER');
  if (position > state.last_seq) return true;
  const stored =
    position < state.first_seq ? null : await jsm.streams.getMessage('MINER_COUNTER', { seq: position });
  // What retention took, or an operator deleted, cannot be compared.
  if (stored === null) return false;
  const decoded = decodeCounter(stored.subject, stored.data);
  return 'rejection' in decoded || decoded.value.telemetryId !== telemetryId;
}

interface CounterParts {
  readonly fold: FollowedFold;
  readonly observations: ObservationReader;
  readonly recent: RecentReadings;
}

function writingCounter(parts: FollowersParts, writing: FoldWriting): CounterParts {
  const { database, tables } = parts;
  const { writer } = writing;
  const recent = createRecentReadings({ storedThrough: () => writer.flushedThrough() });
  return {
    fold: createCounterFold({ actors: parts.counters, recent, counts: parts.counts, writing }),
    observations: createObservationReader({
      recent,
      database,
      tables,
      isStoredThrough: ({ position }) => position <= writer.flushedThrough(),
    }),
    recent,
  };
}

function readingCounter(parts: FollowersParts): CounterParts {
  const { database, tables } = parts;
  const stored = createStoredThroughQuery(database, tables);
  const recent = createRecentReadings({ storedThrough: () => Number.MAX_SAFE_INTEGER });
  const fold = createCounterFold({ actors: parts.counters, recent, counts: parts.counts, writing: null });
  return {
    fold: {
      ...fold,
      restore: (lines, position) => {
        stored.restoredAt(position);
        fold.restore(lines, position);
      },
    },
    observations: createObservationReader({
      recent,
      database,
      tables,
      isStoredThrough: stored.isStoredThrough,
    }),
    recent,
  };
}

function follow(
  parts: FollowersParts,
  stream: InputStreamName,
  fold: FollowedFold,
  backpressure: readonly Bounded[],
): StreamFollower {
  const { connection, js, jsm, database, tables, writes, policy, clock, logger, ensureStreams } = parts;
  const bounded = backpressure.filter((one) => one !== null);
  const source = createMessageSource({
    connection,
    js,
    jsm,
    stream,
    clock,
    logger,
    ...(ensureStreams && { onMissing: ensureStreams }),
    ...(stream === 'MINER_COUNTER' && {
      readStored: (after, through) => readStored(database, parts.storedTables(), after, through),
    }),
    hasRoom: () => bounded.every((one) => one.hasRoom()),
    room: async () => {
      await Promise.all(bounded.map((one) => one.room()));
    },
  });
  const snapshots = createSnapshotStore({ database, tables, logger });
  const onSaved = () => parts.onSaved?.(stream);
  return createStreamFollower({
    stream,
    source,
    jsm,
    fold,
    snapshots,
    writes,
    onSaved,
    policy,
    clock,
    logger,
  });
}
