import { randomUUID } from 'node:crypto';
import type { Logger } from 'pino';
import { exhaustMap, filter, Subject, takeUntil, takeWhile } from 'rxjs';
import type { Clock } from '../../actors/clock.ts';
import type { FoldIdentity } from '../../actors/folds/foldIdentity.ts';
import type { InputStreamName } from '../../actors/messages/subjects.ts';
import type { Database } from '../../storage/clickhouse/database.ts';
import { findReplay } from '../../storage/runs/fills.ts';
import {
  cutRuns,
  findLastRun,
  findTip,
  isSameHistory,
  type Lineage,
  lastRunBegins,
  noteLineage,
  openEnd,
  readContinued,
  readLineage,
  type VisibleRuns,
} from '../../storage/runs/lineages.ts';
import { type IsCounted, mergeRuns, readCounted, runsMax } from '../../storage/runs/mergedRuns.ts';
import type { EpochHolder } from '../../storage/tables/ingestEpochs.ts';
import type { LineageCause } from '../../storage/tables/lineages.ts';
import type { StreamVerifier } from '../jetstream/proofs/streamVerifier.ts';
import type { RowWriter } from '../pipeline/rowWriter.ts';
import type { Correction, RestorationOptions, StoredOutput } from './restoreFold.ts';

interface RunHistoryOptions {
  readonly stream: InputStreamName;
  readonly identity: FoldIdentity;
  readonly database: Database;
  /** This process. */
  readonly writer: EpochHolder;
  readonly verifier: StreamVerifier;
  readonly clock: Pick<Clock, 'nowMs'>;
  readonly logger: Logger;
}

/** The history that a process writes: which rows of a stream count, and the run of its own ones. */
export interface RunHistory
  extends Required<Pick<RestorationOptions, 'chooseFrom'> & Pick<StoredOutput, 'end'>> {
  /** Begins or continues a run, whose rows the writer stores. Returns whether the stream has lost messages that had been folded. */
  correct(correction: Correction, rows: Pick<RowWriter, 'progress$'> | null): Promise<boolean>;
  /** Run of the rows that this process stores; empty before the first restoration. */
  run(): string;
  visible(): VisibleRuns;
  isCounted: IsCounted;
  /** Whether a replay has filled a run that this process does not continue yet. */
  hasReplay(): Promise<boolean>;
}

/**
 * Rows are only ever added, so a process that cannot know what another one has stored above its snapshot begins a run of its own there: earlier rows
 * above it no longer count, whichever still arrive. It continues a run only if that ended in good order.
 *
 * Readers see the new history when it has everything that they saw before, or at once if the stream has lost messages.
 */
export function createRunHistory(options: RunHistoryOptions): RunHistory {
  const { stream, identity, database, writer, verifier, clock, logger } = options;
  const superseded$ = new Subject<void>();
  /** The history that this process continues. */
  let earlier: Lineage | null = null;
  let own: Lineage | null = null;
  let isCounted: IsCounted = () => false;
  /** Whether readers see its own history. */
  let counts = false;
  let step = 0;
  let hasRewound = false;
  /** The replay whose state is being restored, or was last. */
  let chosen = '';
  /** The last one that a restoration has ended with, whether or not it could use its state. */
  let replayed = '';

  const lastRun = (lineage: Lineage | null) => findLastRun(lineage?.runs ?? []);

  async function note(cause: LineageCause, position: number): Promise<void> {
    const noted = own;
    if (noted === null) return;
    step++;
    await noteLineage(database, { ...noted, ...writer, step, cause, position }, clock.nowMs());
    logger.info({ stream, ...writer, step, cause, position, runs: noted.runs.length }, 'history noted');
    // Another run may have begun meanwhile.
    if (own === noted) counts = cause !== 'pending';
  }

  async function findNewReplay(
    streamCreated: string,
    current: Lineage | null,
    known: string,
  ): Promise<Lineage | null> {
    const replay = await findReplay(database, stream, { ...identity, streamCreated }, current);
    return lastRun(replay) === known ? null : replay;
  }

  /** The history that this process continues. Rows of another fold, or of another stream of this name, are none of it. */
  async function findEarlier(streamCreated: string): Promise<Lineage | null> {
    const current =
      own?.streamCreated === streamCreated
        ? own
        : await readContinued(database, stream, { ...identity, streamCreated });
    const replay = await findNewReplay(streamCreated, current, replayed);
    if (replay !== null) chosen = lastRun(replay);
    return replay ?? current;
  }

  async function begin({ position, streamCreated }: Correction): Promise<Lineage> {
    let runs = cutRuns(earlier?.runs ?? [], position);
    // A replay is continued once, even if none of its states could be restored, or if another run follows before that is noted.
    const isPending = earlier !== null && earlier === own && !counts;
    const last = isPending ? earlier?.continuedRun : findLastRun(runs);
    const continued = earlier?.cause === 'filled' ? lastRun(earlier) : (last ?? '');
    while (runs.length >= runsMax)
      runs = await mergeRuns(database, {
        ...writer,
        stream,
        runs,
        name: randomUUID(),
        nowMs: clock.nowMs(),
      });
    runs = [...runs, { run: randomUUID(), through: openEnd }];
    return {
      ...identity,
      ...writer,
      stream,
      step,
      cause: 'begun',
      runs,
      streamCreated,
      position,
      continuedRun: continued,
    };
  }

  /** The newest message after the restored state that stored a row which readers see of the same stream. */
  async function findShownTip(shown: Lineage | null, { position, streamCreated }: Correction) {
    return shown?.streamCreated === streamCreated ? findTip(database, shown, position) : position;
  }

  function noteOnceStored(
    { progress$ }: Pick<RowWriter, 'progress$'>,
    { due, cause, position }: { due: number; cause: LineageCause; position: number },
  ) {
    progress$
      .pipe(
        filter(({ storedThrough }) => storedThrough >= due),
        // After a failure, the next progress tries again.
        exhaustMap(() =>
          note(cause, position).catch((error: unknown) => {
            logger.warn({ stream, err: error }, 'history cannot be noted yet');
          }),
        ),
        takeWhile(() => !counts),
        takeUntil(superseded$),
      )
      .subscribe();
  }

  return {
    run: () => lastRun(own),
    visible: () => own?.runs ?? [],
    isCounted: (snapshot) => isCounted(snapshot),

    hasReplay: async () => own !== null && (await findNewReplay(own.streamCreated, own, chosen)) !== null,

    chooseFrom: async (streamCreated) => {
      earlier = await findEarlier(streamCreated);
      return readCounted(database, earlier);
    },

    correct: async (correction, rows) => {
      const { position, streamCreated, firstSequence, choice, fault } = correction;
      superseded$.next();
      const shown = await readLineage(database, stream);
      const tip = await findShownTip(shown, correction);
      const isRecreated = shown !== null && shown.streamCreated !== streamCreated;
      const hasDiverged =
        fault === 'diverged' ||
        choice.disagrees ||
        isRecreated ||
        (tip > position && (await verifier.hasLostEnd(tip)));
      const hasEnded = earlier?.cause === 'ended' && earlier.position === choice.newestPosition;
      hasRewound = fault === 'olderSnapshotNeeded';
      const cause = findCause({ hasDiverged, hasRewound, earlier });
      // Another version may have stored more since it ended.
      const isShown = tip <= position || isSameHistory(shown?.runs ?? [], earlier?.runs ?? []);
      // Below its beginning, an earlier run has the same rows.
      const isContinued =
        hasEnded &&
        isShown &&
        cause === 'continued' &&
        earlier !== null &&
        position >= lastRunBegins(earlier.runs);
      if (cause === 'begun' && shown !== null)
        logger.warn(
          { stream, foldVersion: identity.foldVersion },
          'what is stored is of another version or deployment: the stream is folded again, and processes of that version show the stored history until then',
        );
      const next = isContinued ? earlier : await begin(correction);
      isCounted = await readCounted(database, next);
      own = next;
      replayed = chosen;
      counts = false;
      // Of what the stream has lost nothing is shown any longer, but rows of messages that retention removed are made from the shown ones.
      const isReplaced = cause === 'diverged' || cause === 'rewound';
      const due = isReplaced ? Math.min(tip, firstSequence - 1) : tip;
      if (isContinued || rows === null || due <= position) await note(cause, position);
      else {
        // If this process is killed before, the next one of a fold without a history continues here.
        await note('pending', position);
        noteOnceStored(rows, { due, cause, position });
      }
      return hasDiverged;
    },

    end: async (position) => {
      superseded$.next();
      // A fold that rewound stores some rows by later messages than another one would.
      if (counts && !hasRewound) await note('ended', position);
    },
  };
}

/** Why a process begins a run. */
function findCause(begun: {
  readonly hasDiverged: boolean;
  readonly hasRewound: boolean;
  readonly earlier: Lineage | null;
}): LineageCause {
  if (begun.hasDiverged) return 'diverged';
  if (begun.hasRewound) return 'rewound';
  switch (begun.earlier?.cause ?? 'pending') {
    case 'pending':
      return 'begun';
    case 'filled':
      return 'replayed';
    default:
      return 'continued';
  }
}
