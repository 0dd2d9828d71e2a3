import {
  BehaviorSubject,
  catchError,
  concat,
  defer,
  filter,
  finalize,
  ignoreElements,
  map,
  merge,
  type Observable,
  Subject,
  take,
  takeUntil,
  throwError,
} from 'rxjs';
import { type ActorRefFrom, fromPromise, type SnapshotFrom } from 'xstate';
import type { Member } from '../../machines/serviceMachine.ts';
import {
  type CaughtUp,
  type RestorationInput,
  type RestoredState,
  streamFollowerMachine,
} from '../../machines/streamFollowerMachine.ts';
import type { IsCounted } from '../../storage/runs/mergedRuns.ts';
import { StreamDiverged } from '../jetstream/proofs/streamVerifier.ts';
import type { MessageSource, SourceStatus } from '../jetstream/source/messageSource.ts';
import { type ActorOwner, fromOwningObservable } from '../operators/actorOwner.ts';
import type { SnapshotPolicy } from '../operators/snapshotMarks.ts';
import type { CapturedState } from '../pipeline/pipelineItem.ts';
import { createStateSaver, type SavedStatus } from '../pipeline/stateSaver.ts';
import { runStreamPipeline, type StreamSinks } from '../pipeline/streamPipeline.ts';
import { type RestorationOptions, restoreFold, type StoredOutput } from './restoreFold.ts';

/** Where a writing process stores the output of a stream, and under which run. */
export interface FollowerSinks extends StreamSinks, StoredOutput {}

/** The lineage of a stream's rows, as far as following it depends on that. */
export interface FollowedLineage {
  /** Run of the rows that this process stores; omitted by one that stores nothing. */
  run?(): string;
  isCounted?: IsCounted;
  readonly chooseFrom: RestorationOptions['chooseFrom'];
  /** Whether a replay has made another state since the last restoration. */
  hasReplay(): Promise<boolean>;
}

export interface StreamFollowerOptions extends Omit<RestorationOptions, 'stored' | 'chooseFrom'> {
  readonly source: MessageSource;
  readonly lineage: FollowedLineage;
  /** Null on a read replica, which restores snapshots and writes nothing. */
  readonly sinks: FollowerSinks | null;
  readonly policy: SnapshotPolicy;
}

interface FollowerStatus extends SourceStatus, SavedStatus {
  /** Whether everything that the stream held at the last restoration is folded. */
  readonly isCurrent: boolean;
  /** How often the stream differed from the folded one. */
  readonly divergences: number;
}

export type StreamFollower = ReturnType<typeof createStreamFollower>;

/** Restores the newest snapshot that agrees with the stream, runs the later messages through its pipeline, and saves snapshots. */
export function createStreamFollower(options: StreamFollowerOptions) {
  const { stream, source, fold, sinks, policy, logger } = options;
  const saver = createStateSaver({ ...options, ...options.lineage });
  const ended$ = new Subject<void>();
  /** Last folded sequence of a failed pipeline, whose source had read further; null while a pipeline runs. */
  let stoppedAt: number | null = null;

  let actor:
    | (Pick<ActorRefFrom<typeof streamFollowerMachine>, 'send'> & {
        getSnapshot(): Pick<SnapshotFrom<typeof streamFollowerMachine>, 'context'>;
      })
    | null = null;
  const logic = streamFollowerMachine.provide({
    actors: {
      restore: fromPromise(({ input }) => restore(input)),
      pipeline: fromOwningObservable(({ input, owner }) => runPipeline(input, owner)),
      awaitIdle: fromPromise(awaitIdle),
    },
    actions: {
      noteStarted: ({ self }) => {
        actor = self;
      },
      noteRestoreFailure: ({ context }, { error }) => {
        if (context.failures === 1)
          logger.warn({ stream, err: error }, 'state cannot be restored yet; retrying');
      },
      noteFault: (_, { error }) => {
        if (error instanceof StreamDiverged) {
          const { reason } = error;
          logger.error({ stream, reason, err: error }, 'stream diverged: its state is restored again');
        } else
          logger.error(
            { stream, err: error },
            'the fold needs an older snapshot: its state is restored again',
          );
      },
      noteCaughtUp: (_, { position }) => noteCaughtUp(position),
      endSource: () => ended$.next(),
    },
  });

  const context = () => actor?.getSnapshot().context;
  const isCurrent = () => context()?.isCurrent ?? false;

  /** Waits until the last inserts and saves of a cancelled pipeline have ended. The log of rejections waits by itself. */
  async function awaitIdle() {
    await sinks?.writer?.whenIdle();
    await saver.whenIdle();
  }

  function runPipeline(
    { streamPosition, lastSequence }: RestoredState,
    owner: ActorOwner,
  ): Observable<CaughtUp> {
    const folded$ = new BehaviorSubject(streamPosition.position);
    stoppedAt = null;
    const drained$ = new Subject<void>();
    // The stream may have lost its end before it was read. Then `lastSequence` is never reached, but the end is.
    const caughtUp$ = merge(folded$.pipe(filter((position) => position >= lastSequence)), source.ends$).pipe(
      take(1),
      map((position): CaughtUp => ({ type: 'caughtUp', position })),
    );
    const pipeline$ = runStreamPipeline(streamPosition, {
      source,
      fold,
      sinks,
      policy,
      onFolded: ({ position }) => folded$.next(position),
      isSaveDue: () => context()?.isSaveDue ?? false,
      capture: saver.capture,
      save,
      onSaveFailure: saver.noteFailure,
      ended$,
      owner,
    });
    const noteStop = (error: unknown) => {
      stoppedAt = folded$.value;
      return throwError(() => error);
    };
    return merge(
      caughtUp$.pipe(takeUntil(drained$)),
      concat(pipeline$, defer(() => endRun(folded$.value)).pipe(ignoreElements())).pipe(
        catchError(noteStop),
        finalize(() => drained$.next()),
      ),
    );
  }

  /** Called once everything that was folded is stored. */
  async function endRun(position: number): Promise<void> {
    if (saver.status.snapshotPosition !== position) return;
    try {
      await sinks?.end?.(position);
    } catch (error) {
      logger.warn({ stream, err: error }, 'the clean end cannot be noted; the next start begins a run');
    }
  }

  function noteCaughtUp(position: number) {
    fold.caughtUp?.();
    logger.info({ stream, position }, 'everything that the stream held at the start is folded');
  }

  /** Called behind the rows that the snapshot covers. */
  function save(captured: CapturedState): Promise<void> {
    const attempt = saver.save(captured);
    actor?.send({ type: 'saving', position: captured.streamPosition.position });
    return attempt;
  }

  async function restore({ fault }: RestorationInput): Promise<RestoredState> {
    const restored = await restoreFold(
      { ...options, chooseFrom: options.lineage.chooseFrom, stored: sinks },
      fault,
    );
    saver.noteRestored(restored.streamPosition.position);
    return restored;
  }

  function status(): FollowerStatus {
    const sourceStatus = source.status();
    return {
      ...sourceStatus,
      ...saver.status,
      // A replica does not know which snapshots others have saved since.
      ...(sinks === null && { snapshotPosition: null }),
      position: stoppedAt ?? sourceStatus.position,
      isCurrent: isCurrent(),
      divergences: context()?.divergences ?? 0,
    };
  }

  return {
    /**
     * Its machine, for a supervisor. Stopping it stores and saves everything that is folded; cancelling it stores nothing more. It fails
     * only for a fault of this program.
     */
    member: { logic, input: { label: stream } } satisfies Member,
    status,
    /** The state was restored at least once, so views can show it. */
    get isRestored() {
      return context()?.isRestored ?? false;
    },
    /** Everything that the stream held was folded at least once; the state may have been restored again since. */
    get wasCurrent() {
      return context()?.wasCurrent ?? false;
    },
    /** The same as in the status, but cheap enough to read for every request. */
    get isCurrent() {
      return isCurrent();
    },
    /** Restores the state again if a replay has made another one. */
    takeReplay: async () => {
      if (!(await options.lineage.hasReplay())) return;
      logger.warn({ stream }, 'a replay has made another state, which is restored');
      actor?.send({ type: 'replaced' });
    },
  };
}
