import type { JetStreamManager } from '@nats-io/jetstream';
import type { Logger } from 'pino';
import { Subject } from 'rxjs';
import { type AnyMachineSnapshot, createActor, fromObservable, fromPromise, toPromise } from 'xstate';
import { isOfFold } from '../actors/foldIdentity.ts';
import { refuseOnError } from '../actors/foldRecord.ts';
import type { InputStreamName } from '../actors/messages/subjects.ts';
import type { Clock } from '../actors/views/clock.ts';
import { streamFollowerMachine } from '../machines/streamFollowerMachine.ts';
import { formatSnapshotName, type StoredSnapshotHeader } from '../storage/foldSnapshot.ts';
import { isRefusal, readRecords } from '../storage/readRecords.ts';
import type { SnapshotStore } from '../storage/snapshots.ts';
import type { ActorInspector } from './actorTransitions.ts';
import { type Checkpoint, emptyCheckpoint } from './jetstream/checkpoint.ts';
import type { MessageSource, SourceStatus } from './jetstream/messageSource.ts';
import { StreamDiverged, type VerifiedStream, verifySource } from './jetstream/sourceVerification.ts';
import type { SnapshotPolicy } from './operators/snapshotMarks.ts';
import type { CapturedState } from './pipelineItem.ts';
import { createStateSaver } from './stateSaver.ts';
import { OlderSnapshotNeeded, type StreamFold } from './streamFold.ts';
import { type FoldedBatchReport, runStreamPipeline, type StreamSinks } from './streamPipeline.ts';

/** So many messages are a reason to save the state once they are folded. */
const longWayMessages = 10_000;
/** In this order snapshots are tried. */
const ranks = { oldEnough: 0, tooYoung: 1, beforeGap: 2, otherStream: 3 } as const;

/** Replaces the state of a fold by a restored one, as of a place in the stream. */
type ReplaceState = (position: number) => void;

/** A snapshot that its fold takes. */
interface Restorable {
  readonly header: StoredSnapshotHeader;
  readonly replaceState: ReplaceState;
}

/** What a process that writes has besides the sinks of a pipeline. */
export interface FollowerSinks extends StreamSinks {
  /** A pipeline begins behind `position`: messages above it are folded again, and what they make is stored again as it was. */
  readonly resumeAfter: (position: number) => Promise<void>;
  /** Whether stored rows come from messages that the stream no longer has; left out where that cannot be known. */
  readonly isStoredHistoryReplaced?: () => Promise<boolean>;
  /** Removes what was stored from messages above `position`, which are not in the stream any more. */
  readonly removeAbove: (position: number) => Promise<void>;
}

export interface StreamFollowerOptions {
  readonly stream: InputStreamName;
  readonly source: MessageSource;
  readonly jsm: JetStreamManager;
  readonly fold: StreamFold;
  readonly snapshots: SnapshotStore;
  /** Null on a read replica, which restores snapshots and writes nothing. */
  readonly sinks: FollowerSinks | null;
  /** State was saved with all rows that go with it; whether everything is folded that the stream held at the start. */
  readonly onSaved?: (isCurrent: boolean) => void;
  /** Called with what each batch took; omitted where nobody asks. */
  readonly onBatch?: (batch: FoldedBatchReport) => void;
  readonly policy: SnapshotPolicy;
  readonly clock: Clock;
  readonly logger: Logger;
  /** Called with every transition. */
  readonly inspect?: ActorInspector;
}

export interface FollowerStatus extends SourceStatus {
  /** Everything that the stream held at the start is folded in. */
  readonly isCaughtUp: boolean;
  /** State was restored at least once, so views show what was folded. */
  readonly isRestored: boolean;
  /** State was restored again, after a divergence or a replay, and what the stream held then is not folded yet. */
  readonly isRebuilding: boolean;
  /** Times that the stream turned out to be another than the folded one. */
  readonly divergences: number;
  readonly snapshotPosition: number | null;
  /** When the newest saved snapshot was taken (epoch milliseconds); null before one is, and for a process that saves none. */
  readonly snapshotTakenAtMs: number | null;
  /** Bytes of the newest one that this process has saved. */
  readonly snapshotBytes: number | null;
  readonly snapshotFailures: number;
}

export interface StreamFollower {
  /** Follows until `stop`; rejects only for a fault of this program. */
  run(): Promise<void>;
  status(): FollowerStatus;
  /** Of its machine. */
  snapshot(): AnyMachineSnapshot;
  /** Of the status, for those who ask with every request. */
  readonly isCaughtUp: boolean;
  readonly isRestored: boolean;
  /** Caught up, and not rebuilding. */
  readonly isCurrent: boolean;
  /** Stops folding, lets `replace` exchange what snapshots are restored from, then restores and folds again. */
  restoreReplaced(replace: () => void): void;
  /** Stops taking messages, then saves what is folded, when its rows are stored within `graceMs`. */
  stop(options: { graceMs: number }): Promise<void>;
  /** Ends where it is: nothing may be stored any more. */
  abandon(): void;
}

/** Restores the newest snapshot that agrees with the stream, runs what follows through its pipeline, and saves snapshots. */
export function createStreamFollower(options: StreamFollowerOptions): StreamFollower {
  const { stream, source, jsm, fold, sinks, snapshots, policy, clock, logger } = options;
  const saver = createStateSaver({ stream, fold, snapshots, clock });
  const ended$ = new Subject<void>();
  let replace: () => void = () => undefined;
  /** Where the pipeline begins. */
  let restored: Checkpoint = emptyCheckpoint;
  /** What the stream held when state was restored first, or after a divergence or a replay. */
  let target: number | null = null;
  let isSaveDue = false;
  let savedPosition: number | null = null;
  let savedTakenAtMs: number | null = null;
  let savedBytes: number | null = null;
  let snapshotFailures = 0;
  let saving: Promise<void> = Promise.resolve();
  /** The stream turned out to be another one, and what was stored of it is not removed yet. */
  let hasDiverged = false;
  /** The fold goes back to before some of what it has stored. */
  let isRewinding = false;

  const actor = createActor(
    streamFollowerMachine.provide({
      actors: {
        restore: fromPromise(({ signal }) => restore(signal)),
        pipeline: fromObservable(() =>
          runStreamPipeline(restored, {
            source,
            fold,
            sinks,
            policy,
            onFolded: ({ position }) => noteProgress(position),
            isSaveDue: () => isSaveDue,
            ...(options.onBatch && { onBatch: options.onBatch }),
            capture: saver.capture,
            save,
            onSaveFailure: (error) => {
              snapshotFailures++;
              logger.warn(
                { stream, err: error },
                'snapshot could not be saved; the next one is tried at its time',
              );
            },
            ended$,
          }),
        ),
        settle: fromPromise(settle),
      },
      guards: {
        isFault: (_, { error, fault }) =>
          fault === 'diverged' ? error instanceof StreamDiverged : error instanceof OlderSnapshotNeeded,
      },
      actions: {
        noteRestoreFailure: ({ context }, { error }) => {
          if (context.failures === 1)
            logger.warn({ stream, err: error }, 'state cannot be restored yet; retrying');
        },
        noteFault: (_, { error }) => noteFault(error),
        noteFollowing: () => noteProgress(restored.position),
        endSource: () => ended$.next(),
      },
    }),
    options.inspect && { inspect: options.inspect },
  );

  // The stream may have lost its end before it was read: what it held at the start is then more than there is.
  source.ends$.subscribe((position) => {
    if (target !== null) target = Math.min(target, position);
    noteProgress(position);
  });

  function isCurrent(): boolean {
    const { isCaughtUp, isRebuilding } = actor.getSnapshot().context;
    return isCaughtUp && !isRebuilding;
  }

  function noteFault(error: unknown) {
    if (error instanceof StreamDiverged) {
      hasDiverged = true;
      const { reason } = error;
      logger.error({ stream, reason, err: error }, 'stream diverged: an older snapshot is restored');
    } else {
      isRewinding = true;
      logger.error({ stream, err: error }, 'the fold needs an older snapshot, which is restored');
    }
  }

  /** What a cancelled pipeline has started ends before anything is restored. */
  async function settle() {
    await sinks?.rejections?.settled();
    await sinks?.writer?.settled();
    await saving;
    replace();
    replace = () => undefined;
  }

  function noteProgress(position: number) {
    if (isCurrent() || target === null || position < target) return;
    // Everything was folded again, or much: the next start need not do so.
    const foldedMessages = target - restored.position;
    isSaveDue ||= foldedMessages >= longWayMessages || (restored.position === 0 && foldedMessages > 0);
    actor.send({ type: 'caughtUp' });
    fold.caughtUp?.();
    logger.info({ stream, position }, 'everything that the stream held at the start is folded in');
    if (savedPosition === position && position > 0) options.onSaved?.(true);
  }

  /** Rows first, snapshot last: what a snapshot covers is stored before it is. */
  function save(captured: CapturedState): Promise<void> {
    const { checkpoint } = captured;
    const before = saving;
    const attempt = (async () => {
      // What is saved follows what was saved before.
      await before;
      const { takenAtMs, bytes } = await saver.save(captured);
      savedTakenAtMs = takenAtMs;
      savedBytes = bytes;
      savedPosition = checkpoint.position;
      logger.debug({ stream, position: savedPosition }, 'snapshot saved');
      options.onSaved?.(isCurrent());
    })();
    if (checkpoint.position >= (target ?? 0)) isSaveDue = false;
    saving = attempt.catch(() => undefined);
    return attempt;
  }

  async function restore(signal: AbortSignal) {
    const { checkpoint, verified } = await restoreOnce();
    if (signal.aborted) return;
    restored = checkpoint;
    if (target === null || actor.getSnapshot().context.isRebuilding) target = verified.lastSequence;
    savedPosition = checkpoint.position;
  }

  async function restoreOnce(): Promise<{ checkpoint: Checkpoint; verified: VerifiedStream }> {
    const asItIs = await verifySource(jsm, stream, emptyCheckpoint);
    const headers = await snapshots.list(stream);
    const { found, disagrees } = await newestAgreeing(headers, asItIs);
    const checkpoint = found === null ? emptyCheckpoint : toCheckpoint(found.header);
    if (sinks !== null)
      await clearAbove(sinks, checkpoint.position, disagrees, isReconfigured(headers, found !== null));
    savedTakenAtMs = found?.header.takenAtMs ?? null;
    const replaceState = found?.replaceState ?? fold.beginRestore().complete();
    replaceState(checkpoint.position);
    saver.reset();
    const { lastSequence } = asItIs;
    logger.info(
      { stream, position: checkpoint.position, lastSequence },
      found === null ? 'folding from the beginning of the stream' : 'snapshot restored',
    );
    return { checkpoint, verified: asItIs };
  }

  /**
   * Messages that are folded again make the same rows under the same keys, so what is stored stays, and whoever reads it sees no hole. Only
   * rows of messages that the stream does not hold any more, those of another deployment, and those that a rewinding fold may not make again,
   * are removed.
   */
  async function clearAbove(
    { resumeAfter, isStoredHistoryReplaced, removeAbove }: FollowerSinks,
    position: number,
    disagrees: boolean,
    reconfigured: boolean,
  ) {
    await resumeAfter(position);
    hasDiverged ||= disagrees || ((await isStoredHistoryReplaced?.()) ?? false);
    if (hasDiverged || isRewinding || reconfigured) await removeAbove(position);
    if (hasDiverged || reconfigured) await snapshots.deleteAbove(stream, reconfigured ? -1 : position);
    hasDiverged = false;
    isRewinding = false;
  }

  /** Whether what is stored was made with another deployment, and is shared with other folds. */
  function isReconfigured(headers: readonly StoredSnapshotHeader[], isRestored: boolean): boolean {
    if (!fold.sharesTables) return false;
    const { configuration } = fold.identity;
    // Earlier versions did not note it.
    const isOther =
      headers.length > 0 &&
      headers.every((header) => header.configuration !== configuration && header.configuration !== '');
    if (isRestored || !isOther) return false;
    logger.warn(
      { stream },
      'the deployment is another than that of the snapshots: the stream is folded again',
    );
    return true;
  }

  /** The newest snapshot that can be restored and whose last message is in the stream, and whether a newer one disagreed. */
  async function newestAgreeing(
    headers: readonly StoredSnapshotHeader[],
    { created, firstSequence }: VerifiedStream,
  ): Promise<{ readonly found: Restorable | null; readonly disagrees: boolean }> {
    let disagrees = false;
    const usable = headers.filter((header) => isOfFold(header, fold.identity));
    if (usable.length < headers.length)
      logger.info(
        { stream, snapshots: headers.length - usable.length, foldVersion: fold.identity.foldVersion },
        'snapshots of another version or deployment are left alone',
      );
    for (const header of inOrder(usable, created, firstSequence)) {
      const { position } = header;
      try {
        await verifySource(jsm, stream, header);
        const replaceState = await restoreFrom(header);
        if (replaceState !== null) return { found: { header, replaceState }, disagrees };
      } catch (error) {
        if (!(error instanceof StreamDiverged)) throw error;
        disagrees = true;
        logger.error(
          { stream, position, reason: error.reason, err: error },
          'snapshot disagrees with the stream',
        );
      }
    }
    return { found: null, disagrees };
  }

  /** Null, with a line in the log, for a snapshot that is damaged or holds something else than its fold writes. */
  async function restoreFrom(header: StoredSnapshotHeader): Promise<ReplaceState | null> {
    try {
      const restoration = fold.beginRestore(header.foldVersion);
      for await (const records of readRecords(snapshots, header, fold.convertLines))
        refuseOnError(() => records.forEach(restoration.add));
      return restoration.accepts?.() === false ? null : refuseOnError(restoration.complete);
    } catch (error) {
      if (!isRefusal(error)) throw error;
      const { position } = header;
      logger.error(
        { stream, snapshot: formatSnapshotName(header), position, err: error },
        'snapshot is damaged or refused; an older one is used',
      );
      return null;
    }
  }

  /**
   * In which order snapshots are tried: those that the stream continues without a gap before those that it does not; old enough ones
   * before younger ones; those of the highest position first, and among the too young ones the oldest.
   */
  function inOrder(
    headers: readonly StoredSnapshotHeader[],
    created: string,
    firstSequence: number,
  ): StoredSnapshotHeader[] {
    const youngestMs = clock.nowMs() - (fold.snapshotAgeMs ?? Number.NEGATIVE_INFINITY);
    const findRank = ({ streamCreated, position, takenAtMs }: StoredSnapshotHeader) => {
      if (streamCreated !== created) return ranks.otherStream;
      if (position + 1 < firstSequence) return ranks.beforeGap;
      return takenAtMs <= youngestMs ? ranks.oldEnough : ranks.tooYoung;
    };
    return headers.toSorted((a, b) => {
      const upwards = findRank(a) === ranks.tooYoung ? 1 : -1;
      return findRank(a) - findRank(b) || (a.position - b.position) * upwards;
    });
  }

  function status(): FollowerStatus {
    const { isCaughtUp, isRestored, isRebuilding, divergences } = actor.getSnapshot().context;
    return {
      ...source.status(),
      isCaughtUp,
      isRestored,
      isRebuilding,
      divergences,
      snapshotPosition: savedPosition,
      snapshotTakenAtMs: sinks === null ? null : savedTakenAtMs,
      snapshotBytes: savedBytes,
      snapshotFailures,
    };
  }

  let isRunning = false;
  const stopped = toPromise(actor);
  stopped.catch(() => undefined); // Whoever runs it gets the error.

  return {
    run: async () => {
      isRunning = true;
      actor.start();
      const { fault } = await stopped;
      if (fault !== null) throw fault;
    },
    status,
    snapshot: () => actor.getSnapshot(),
    get isCaughtUp() {
      return actor.getSnapshot().context.isCaughtUp;
    },
    get isRestored() {
      return actor.getSnapshot().context.isRestored;
    },
    get isCurrent() {
      return isCurrent();
    },
    restoreReplaced: (exchange) => {
      replace = exchange;
      actor.send({ type: 'replaced' });
    },
    stop: async ({ graceMs }) => {
      if (!isRunning) return;
      actor.send({ type: 'stopped', graceMs });
      await stopped.catch(() => undefined);
    },
    abandon: () => {
      actor.stop();
    },
  };
}

function toCheckpoint({ streamCreated, position, digest }: StoredSnapshotHeader): Checkpoint {
  return { streamCreated, position, digest };
}
