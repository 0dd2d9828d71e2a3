import { randomUUID } from 'node:crypto';
import { Registry } from 'prom-client';
import { filter, firstValueFrom, merge, Subject, take } from 'rxjs';
import { requireValue } from '../../machines/requireValue.ts';
import type { Database } from '../../storage/clickhouse/database.ts';
import { createRecentReadings } from '../../storage/reading/recentReadings.ts';
import { createOldestReadingMs, readReadingsTtlDays } from '../../storage/rows/readingsTtl.ts';
import { cutRuns, type Lineage, noteLineage, openEnd } from '../../storage/runs/lineages.ts';
import { readCounted } from '../../storage/runs/mergedRuns.ts';
import { findRestorable } from '../../storage/runs/replays.ts';
import { rowTablesOf } from '../../storage/tables/rowTables.ts';
import { createStreamFold, type StreamActors, streamDefinitions } from '../definitions/streamDefinitions.ts';
import { createStreamFollower, type StreamFollowerOptions } from '../follower/streamFollower.ts';
import { createMessageSource } from '../jetstream/source/messageSource.ts';
import { runMember } from '../operators/runMember.ts';
import { whenAborted } from '../operators/whenAborted.ts';
import { createMessageCounts } from '../pipeline/messageCounts.ts';
import { createRowWriter } from '../pipeline/rowWriter.ts';

/** A stopped fold ends within this time. */
export const foldStopMs = 7_000;
/** A fold that NATS interrupts repeats at most a minute. */
const snapshotPolicy = { intervalMs: 60_000, messages: 2_000_000 };
/** Nobody reads its rows yet, so inserts may be large, which saves a tenth of the processor's time. */
const insertedRows = 50_000;
/** About one insert and a half of usual readings, so that one is made while another one is stored. */
const replayedBytesMax = 64 * 1024 * 1024;
/** A replay notes itself again this often, since one that has noted nothing for days counts as left. */
const noteAgainMs = 3_600_000;

export interface ReplayRunOptions
  extends Pick<
    StreamFollowerOptions,
    'stream' | 'snapshots' | 'jetStream' | 'verifier' | 'clock' | 'logger'
  > {
  /** Actors of their own, whose views nobody sees. */
  readonly actors: StreamActors;
  /** The last message to fold, which the stream holds. */
  readonly through: number;
  readonly database: Database;
  /** The lineage to continue. Its newest snapshot is restored. */
  readonly from: Lineage;
  /** Called after each batch with the position of its last message. */
  readonly onFolded?: (position: number) => void;
  readonly signal: AbortSignal;
}

interface ReplayedRun {
  /** The lineage with the filled runs, which do not count yet. */
  readonly filled: Lineage;
  /** Whether everything through the last message is stored, and the state there is saved. */
  readonly isComplete: boolean;
  /** Whether the stream has lost messages meanwhile, which ends the replay. */
  readonly hasLost: boolean;
}

/**
 * Folds a stream again, as the service would, into a run that nobody reads yet, through a message or until the signal aborts, and saves the state there.
 * Notes what it has begun, so that its snapshots and rows stay.
 */
export async function replayRun(options: ReplayRunOptions): Promise<ReplayedRun> {
  const { stream, database, snapshots, through, from, clock, signal } = options;
  const { fold, source } = await createReplayed(options);
  const kept = new Set(from.runs.map(({ run }) => run));
  const lost$ = new Subject<void>();
  let filled: Lineage = { ...from, cause: 'filling', reason: '' };
  let run = '';
  let hasLost = false;
  let notedAtMs = 0;
  const note = async (change: Partial<Lineage> = {}) => {
    filled = { ...filled, ...change };
    notedAtMs = clock.nowMs();
    await noteLineage(database, filled, notedAtMs);
  };
  const hasRows = rowTablesOf(stream).length > 0;
  const follower = createStreamFollower({
    ...options,
    fold: {
      ...fold,
      receive: (batch) => {
        const output = fold.receive(batch);
        options.onFolded?.(batch.position);
        return output;
      },
    },
    source,
    snapshots: {
      ...snapshots,
      // Its snapshots never evict one that the ingesting process may need.
      save: async (header, records) => {
        if (clock.nowMs() - notedAtMs >= noteAgainMs) await note();
        return snapshots.save(header, records, await findRestorable(database, stream));
      },
    },
    sinks: {
      writer: hasRows ? createRowWriter({ ...options, batchRows: insertedRows, run: () => run }) : null,
      rejections: null,
      underWayBytesMax: replayedBytesMax,
      beginRun: async ({ position, streamCreated, fault }) => {
        // The rows that it continues, or is compared with, were made from another stream.
        if (fault === 'diverged' || streamCreated !== from.streamCreated) lost$.next();
        const continued = cutRuns(filled.runs, position);
        run = randomUUID();
        await note({
          streamCreated,
          step: filled.step + 1,
          runs: [...continued, { run, through: openEnd }],
          position,
          continuedRun: continued.findLast((one) => kept.has(one.run))?.run ?? '',
        });
        return false; // Only counted, and nobody reads the count of a replay.
      },
    },
    lineage: {
      run: () => run,
      chooseFrom: () => readCounted(database, filled),
      hasReplay: async () => false,
    },
    checkStreams: async () => undefined,
    policy: snapshotPolicy,
  });
  const running = runMember(follower.member);
  const stop = () => running.stop({ graceMs: foldStopMs });
  void firstValueFrom(whenAborted(signal)).then(stop);
  const lostEnd$ = source.ends$.pipe(filter((position) => position < through));
  const watching = merge(lost$, lostEnd$)
    .pipe(take(1))
    .subscribe(() => {
      hasLost = true;
      void stop();
    });
  await running.ended.finally(() => watching.unsubscribe());
  const { position, snapshotPosition } = follower.status();
  const isComplete = !hasLost && position === through && snapshotPosition === through;
  return {
    filled: isComplete ? { ...filled, runs: cutRuns(filled.runs, through) } : filled,
    isComplete,
    hasLost,
  };
}

/** The fold and the messages of a replay. */
async function createReplayed(options: ReplayRunOptions) {
  const { stream, actors, database, clock, logger } = options;
  const oldestMs = createOldestReadingMs(await readReadingsTtlDays(database), clock.nowMs)();
  const registry = new Registry();
  const fold = createStreamFold(stream, actors, {
    recent: createRecentReadings({ storedThrough: () => Number.POSITIVE_INFINITY }),
    counts: createMessageCounts(registry),
    logger,
    registry,
  });
  const readStored = streamDefinitions[stream].createStoredReader?.({
    ...options,
    oldestReadingMs: () => oldestMs,
  });
  return {
    fold: requireValue(fold, `the fold of ${stream}`),
    source: createMessageSource({ ...options, readStored }),
  };
}
