import { randomUUID } from 'node:crypto';
import type { Logger } from 'pino';
import { exhaustMap, filter, Subject, takeUntil, takeWhile } from 'rxjs';
import type { Clock } from '../../actors/clock.ts';
import { type FoldIdentity, isOfFold } from '../../actors/foldIdentity.ts';
import type { InputStreamName } from '../../actors/messages/subjects.ts';
import type { Database } from '../../storage/database.ts';
import {
  cutRuns,
  findTip,
  type Lineage,
  lastRunBegins,
  mergeRuns,
  noteLineage,
  openEnd,
  readLineage,
  runsMax,
  selectCounted,
  type VisibleRuns,
} from '../../storage/lineages.ts';
import type { EpochHolder } from '../../storage/tables/ingestEpochs.ts';
import type { LineageCause } from '../../storage/tables/lineages.ts';
import type { ActiveTables } from '../../storage/tables.ts';
import type { StreamVerifier } from '../jetstream/sourceVerification.ts';
import type { RowWriter } from '../pipeline/rowWriter.ts';
import type { Correction, RestorationOptions, StoredOutput } from './restoreFold.ts';

interface RunHistoryOptions {
  readonly stream: InputStreamName;
  readonly identity: FoldIdentity;
  readonly database: Database;
  readonly tables: ActiveTables;
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
  correct(correction: Correction, rows: Pick<RowWriter, 'progress$'>): Promise<boolean>;
  /** Run of the rows that this process stores; empty before the first restoration. */
  run(): string;
  visible(): VisibleRuns;
}

/**
 * Rows are only ever added, so a process that cannot know what another one has stored above its snapshot begins a run of its own there: earlier rows
 * above it no longer count, whichever still arrive. It continues a run only if that ended in good order.
 *
 * Readers see the new history at once if the stream has lost messages, otherwise when it has everything that they saw before.
 */
export function createRunHistory(options: RunHistoryOptions): RunHistory {
  const { stream, identity, database, tables, writer, verifier, clock, logger } = options;
  const superseded$ = new Subject<void>();
  let own: Lineage | null = null;
  let isNoted = false;
  let step = 0;
  let hasRewound = false;

  async function note(cause: LineageCause, position: number): Promise<void> {
    if (own === null) return;
    step++;
    await noteLineage(database, { ...own, ...writer, step, cause, position }, clock.nowMs());
    isNoted = true;
    logger.info({ stream, ...writer, step, cause, position, runs: own.runs.length }, 'history noted');
  }

  /** The history that this process continues. Rows of another fold, or of another stream of this name, are none of it. */
  async function findParent(streamCreated: string): Promise<Lineage | null> {
    if (own?.streamCreated === streamCreated) return own;
    return readLineage(database, stream, { ...identity, streamCreated });
  }

  async function begin(parent: Lineage | null, { position, streamCreated }: Correction): Promise<Lineage> {
    let runs = cutRuns(parent?.runs ?? [], position);
    while (runs.length >= runsMax) {
      runs = await mergeRuns(database, tables(), { stream, runs, name: randomUUID() });
    }
    runs = [...runs, { run: randomUUID(), through: openEnd }];
    return { ...identity, ...writer, stream, step, cause: 'begun', runs, streamCreated, position };
  }

  /** The newest message that stored a row which readers see of the same stream and fold. */
  async function findShownTip(shown: Lineage | null, { streamCreated }: Correction): Promise<number> {
    const isSame = shown?.streamCreated === streamCreated && isOfFold(shown, identity);
    return isSame ? findTip(database, tables(), shown) : 0;
  }

  /** @throws NotProven while the stream may not have ended yet. */
  async function hasLost(tip: number): Promise<boolean> {
    const answer = await verifier.ask();
    const isConfirmed = answer.info.state.last_seq < tip;
    return verifier.isProven(answer, {
      claim: `${stream} ends before ${tip}, whose rows are stored`,
      isConfirmed,
    });
  }

  function noteOnceStored(
    { progress$ }: Pick<RowWriter, 'progress$'>,
    { tip, cause, position }: { tip: number; cause: LineageCause; position: number },
  ) {
    progress$
      .pipe(
        filter(({ storedThrough }) => storedThrough >= tip),
        // After a failure, the next progress tries again.
        exhaustMap(() =>
          note(cause, position).catch((error: unknown) => {
            logger.warn({ stream, err: error }, 'history cannot be noted yet');
          }),
        ),
        takeWhile(() => !isNoted),
        takeUntil(superseded$),
      )
      .subscribe();
  }

  return {
    run: () => own?.runs.at(-1)?.run ?? '',
    visible: () => own?.runs ?? [],

    chooseFrom: async (streamCreated) => selectCounted(await findParent(streamCreated)),

    correct: async (correction, rows) => {
      const { position, streamCreated, choice, fault } = correction;
      superseded$.next();
      const shown = await readLineage(database, stream);
      const parent = await findParent(streamCreated);
      const tip = await findShownTip(shown, correction);
      const isRecreated =
        shown !== null && isOfFold(shown, identity) && shown.streamCreated !== streamCreated;
      const hasDiverged = fault === 'diverged' || choice.disagrees || isRecreated || (await hasLost(tip));
      const hasEnded = parent?.cause === 'ended' && parent.position === choice.newestPosition;
      hasRewound = fault === 'olderSnapshotNeeded';
      const cause = hasDiverged
        ? 'diverged'
        : hasRewound
          ? 'rewound'
          : parent === null
            ? 'begun'
            : 'continued';
      // Below its beginning, an earlier run has the same rows.
      const isContinued = hasEnded && cause === 'continued' && position >= lastRunBegins(parent.runs);
      own = isContinued ? parent : await begin(parent, correction);
      isNoted = false;
      if (isContinued || cause !== 'continued' || tip <= position) await note(cause, position);
      else noteOnceStored(rows, { tip, cause, position });
      return hasDiverged;
    },

    end: async (position) => {
      superseded$.next();
      // A fold that rewound stores some rows by later messages than another one would.
      if (isNoted && !hasRewound) await note('ended', position);
    },
  };
}
