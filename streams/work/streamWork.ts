import type { Registry } from 'prom-client';
import { merge, NEVER } from 'rxjs';
import type { FoldIdentity } from '../../actors/folds/foldIdentity.ts';
import type { InputStreamName } from '../../actors/messages/subjects.ts';
import { requireValue } from '../../machines/requireValue.ts';
import { closeGraceMs, type Member, saveGraceMs } from '../../machines/serviceMachine.ts';
import type { Database } from '../../storage/clickhouse/database.ts';
import { createAwaitRows, limitSelects } from '../../storage/reading/awaitRows.ts';
import { createObservationReader } from '../../storage/reading/observations.ts';
import { createRecentReadings } from '../../storage/reading/recentReadings.ts';
import { createStoredActivity } from '../../storage/reading/storedActivity.ts';
import { createStoredDays } from '../../storage/reading/storedDays.ts';
import { createStoredEvents } from '../../storage/reading/storedEvents.ts';
import type { OldestReadingMs } from '../../storage/rows/readingsTtl.ts';
import { readLineage } from '../../storage/runs/lineages.ts';
import { readCounted } from '../../storage/runs/mergedRuns.ts';
import { findContinuedReplay } from '../../storage/runs/replays.ts';
import { dropRetiredRuns } from '../../storage/runs/retiredRuns.ts';
import { createRunsReader, type ReadRuns } from '../../storage/runs/runsReader.ts';
import { createSnapshotStore } from '../../storage/snapshots/snapshots.ts';
import type { EpochHolder } from '../../storage/tables/ingestEpochs.ts';
import { rowTablesOf } from '../../storage/tables/rowTables.ts';
import type { SelfAudit } from '../audit/selfAudit.ts';
import {
  createStreamFold,
  listFolds,
  type StreamActors,
  streamDefinitions,
} from '../definitions/streamDefinitions.ts';
import {
  createStreamFollower,
  type FollowedLineage,
  type StreamFollower,
  type StreamFollowerOptions,
} from '../follower/streamFollower.ts';
import { createWrittenLineage } from '../follower/writtenLineage.ts';
import type { Indexer } from '../indexer/indexer.ts';
import { createStreamVerifier } from '../jetstream/proofs/streamVerifier.ts';
import { createMessageSource } from '../jetstream/source/messageSource.ts';
import type { StreamReaderOptions } from '../jetstream/streamReaderOptions.ts';
import { registerWriterMetrics } from '../metrics/writerMetrics.ts';
import type { StreamPort } from '../nats/streamPort.ts';
import { repeatEvery } from '../operators/repeatEvery.ts';
import type { MessageCounts } from '../pipeline/messageCounts.ts';
import { createRejectionLog, type RejectionLog } from '../pipeline/rejectionLog.ts';
import { createRowWriter, type RowWriter } from '../pipeline/rowWriter.ts';

const replayCheckMs = 1_000;
/** Rows are dropped at least one of these after the run was retired. */
const dropMs = 3_600_000;

interface StreamWorkOptions
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
  readonly ensureStreams?: () => Promise<unknown>;
  /** Null for a process that does not index. */
  readonly indexer: Indexer | null;
  /** Null without a node to compare with. */
  readonly audit: SelfAudit | null;
  readonly registry: Registry;
}

/** Work of a process on the streams and tables that it was granted. */
export type StreamWork = ReturnType<typeof createStreamWork>;

/** Creates the followers of all folded streams, with their writers and the readers of what is stored. */
export function createStreamWork(options: StreamWorkOptions) {
  const { actors, oldestReadingMs, writer, indexer, audit, registry } = options;
  const database = limitSelects(options.database);
  const snapshots = createSnapshotStore(options.database);
  const { nowMs } = options.clock;
  const onMissing = options.ensureStreams ?? options.checkStreams;
  const writers = new Map<InputStreamName, RowWriter>();
  const rejections = new Map<InputStreamName, RejectionLog>();
  const followers = new Map<InputStreamName, StreamFollower>();
  const runsOf = new Map<InputStreamName, ReadRuns>();
  const recent = createRecentReadings({
    // For a process that only reads, another one stores the readings.
    storedThrough: () => writers.get('MINER_COUNTER')?.storedThrough() ?? Number.MAX_SAFE_INTEGER,
  });
  for (const [stream, identity] of listFolds(actors)) {
    const reading = { ...options, stream, identity, verifier: createStreamVerifier({ ...options, stream }) };
    const written = writer === null ? null : openWritten({ ...reading, writer });
    const fold = createStreamFold(stream, actors, { ...options, recent });
    const readStored = streamDefinitions[stream].createStoredReader?.(reading);
    const follower = createStreamFollower({
      ...reading,
      fold: requireValue(fold, `the fold of ${stream}`),
      source: createMessageSource({ ...reading, onMissing, readStored }),
      snapshots,
      sinks: written?.sinks ?? null,
      lineage: written?.lineage ?? createReadLineage(reading),
      onMissing,
    });
    followers.set(stream, follower);
    runsOf.set(stream, written?.readRuns ?? createRunsReader({ ...reading, database }));
    if (written === null) continue;
    rejections.set(stream, written.sinks.rejections);
    if (written.sinks.writer !== null) writers.set(stream, written.sinks.writer);
  }
  registerWriterMetrics(registry, { writers, rejections, recent });
  const members = new Map<string, Member & { readonly graceMs: number }>();
  for (const [stream, { member }] of followers) members.set(stream, { ...member, graceMs: saveGraceMs });
  if (indexer !== null) members.set('indexer', { ...indexer.member, graceMs: closeGraceMs });
  const rowsOf = (stream: InputStreamName) => ({
    database,
    writer: writers.get(stream) ?? null,
    readRuns: runsOf.get(stream) ?? (async () => []),
  });
  const [ofCounter, ofChain] = [rowsOf('MINER_COUNTER'), rowsOf('MINER_CHAIN')];
  const takeReplay = async () => followers.get('MINER_COUNTER')?.takeReplay();
  return {
    followers,
    /** Followers, and the indexer if this process indexes. */
    members,
    /** Row writers and rejection logs by stream; empty on a read replica. */
    writers,
    rejections,
    recent,
    observations: createObservationReader({
      recent,
      database,
      oldestReadingMs,
      mayHaveReadings: actors.MINER_COUNTER.mayHaveReadings,
      awaitRows: createAwaitRows({ ...ofCounter, what: 'the older readings' }),
    }),
    olderEvents: createStoredEvents({
      database,
      awaitRows: {
        measurement: createAwaitRows({ ...ofCounter, what: 'the older measurement events' }),
        chain: createAwaitRows({ ...ofChain, what: 'the older chain events' }),
      },
    }),
    olderActivity: createStoredActivity({
      ...ofChain,
      awaitRows: createAwaitRows({ ...ofChain, what: 'the older activity' }),
    }),
    olderDay: createStoredDays(ofCounter),
    /** Differences that the audit knows. */
    drifts: () => audit?.drifts() ?? [],
    /** Audits samples, takes replays up and drops unused rows while subscribed; emits nothing. */
    upkeep: () =>
      merge(
        audit?.samples$ ?? NEVER,
        // Only a process that shares the database can replay a stream.
        database.kind === 'server' ? repeatEvery(replayCheckMs, takeReplay) : NEVER,
        writer === null ? NEVER : repeatEvery(dropMs, () => dropRetiredRuns({ ...options, writer, nowMs })),
      ),
  };
}

interface LineageOptions extends StreamWorkOptions, StreamReaderOptions {
  readonly identity: FoldIdentity;
}

/** Where this process stores the output of a stream. */
function openWritten(options: LineageOptions & { readonly writer: EpochHolder }) {
  const hasRows = rowTablesOf(options.stream).length > 0;
  const writer: RowWriter | null = hasRows ? createRowWriter({ ...options, run: () => lineage.run() }) : null;
  const lineage = createWrittenLineage({ ...options, rows: writer });
  const { beginRun, end, runs } = lineage;
  const sinks = { writer, rejections: createRejectionLog(options), beginRun, end };
  return { sinks, lineage, readRuns: async () => runs() };
}

/** The lineage of a process that only reads: another process has noted it last. */
function createReadLineage({ database, stream, identity }: LineageOptions): FollowedLineage {
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
