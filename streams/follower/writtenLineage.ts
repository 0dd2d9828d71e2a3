import { randomUUID } from 'node:crypto';
import type { Logger } from 'pino';
import { EMPTY, exhaustMap, filter, Subject, takeUntil, takeWhile } from 'rxjs';
import type { Clock } from '../../actors/clock.ts';
import type { FoldIdentity } from '../../actors/folds/foldIdentity.ts';
import type { InputStreamName } from '../../actors/messages/subjects.ts';
import type { Database } from '../../storage/clickhouse/database.ts';
import {
  cutRuns,
  findLastRun,
  findTip,
  type Lineage,
  type LineageRuns,
  noteLineage,
  openEnd,
  readContinued,
  readLineage,
} from '../../storage/runs/lineages.ts';
import { type IsCounted, mergeRuns, readCounted, runsMax } from '../../storage/runs/mergedRuns.ts';
import { findReplay } from '../../storage/runs/replays.ts';
import type { EpochHolder } from '../../storage/tables/ingestEpochs.ts';
import type { RunReason } from '../../storage/tables/lineages.ts';
import type { StreamVerifier } from '../jetstream/proofs/streamVerifier.ts';
import type { RowWriter } from '../pipeline/rowWriter.ts';
import { chooseRun, type RunFacts } from './chooseRun.ts';
import type { RestoredPosition } from './restoreFold.ts';

interface WrittenLineageOptions {
  readonly stream: InputStreamName;
  readonly identity: FoldIdentity;
  readonly database: Database;
  /** This process. */
  readonly writer: EpochHolder;
  readonly verifier: StreamVerifier;
  /** Writer of the rows; null for a stream without rows. */
  readonly rows: Pick<RowWriter, 'progress$' | 'resumeAfter'> | null;
  readonly clock: Pick<Clock, 'nowMs'>;
  readonly logger: Logger;
}

/**
 * The lineage that a process writes: which rows of a stream count, and the run of its own rows.
 *
 * Rows are only ever added, so a process that cannot know what another one has stored above its snapshot begins a run of its own there: earlier rows
 * above it no longer count, even those that still arrive. It continues a run only if that ended in good order.
 *
 * Readers see the new lineage when it has everything that they saw before, or at once if the stream has lost messages.
 */
export function createWrittenLineage(options: WrittenLineageOptions) {
  const { stream, identity, database, writer, verifier, rows, clock, logger } = options;
  const superseded$ = new Subject<void>();
  /** The lineage that this process continues. */
  let earlier: Lineage | null = null;
  /** As it was noted last; pending before. */
  let own: Lineage | null = null;
  let isCounted: IsCounted = () => false;
  let step = 0;
  /** The replay whose state is being restored, or was last. */
  let chosen = '';
  /** The last one that a restoration has ended with, whether or not it could use its state. */
  let replayed = '';

  const lastRun = (lineage: Lineage | null) => findLastRun(lineage?.runs ?? []);

  async function note(
    lineage: Lineage,
    { cause, position }: Pick<Lineage, 'cause' | 'position'>,
  ): Promise<void> {
    const noted = { ...lineage, ...writer, step: ++step, cause, position };
    await noteLineage(database, noted, clock.nowMs());
    const { reason, runs } = noted;
    logger.info(
      { stream, ...writer, step: noted.step, cause, reason, position, runs: runs.length },
      'lineage noted',
    );
    // Another run may have begun meanwhile.
    if (lastRun(own) === lastRun(noted)) own = noted;
  }

  async function findNewReplay(
    streamCreated: string,
    current: Lineage | null,
    known: string,
  ): Promise<Lineage | null> {
    const replay = await findReplay(database, stream, { ...identity, streamCreated }, current);
    return lastRun(replay) === known ? null : replay;
  }

  /** The lineage that this process continues. Rows of another fold, or of another stream of this name, do not belong to it. */
  async function findEarlier(streamCreated: string): Promise<Lineage | null> {
    const current =
      own?.streamCreated === streamCreated
        ? own
        : await readContinued(database, stream, { ...identity, streamCreated });
    const replay = await findNewReplay(streamCreated, current, replayed);
    if (replay !== null) chosen = lastRun(replay);
    return replay ?? current;
  }

  async function findFacts(restored: RestoredPosition): Promise<RunFacts> {
    const { position, streamCreated, choice, fault } = restored;
    const newest = await readLineage(database, stream);
    const isRecreated = newest !== null && newest.streamCreated !== streamCreated;
    const tip = newest === null || isRecreated ? position : await findTip(database, newest, position);
    const hasDiverged =
      fault === 'diverged' ||
      choice.disagrees ||
      isRecreated ||
      (tip > position && (await verifier.hasLostEnd(tip)));
    return { ...restored, earlier, newest, tip, hasDiverged };
  }

  async function begin({ position, streamCreated }: RestoredPosition, reason: RunReason): Promise<Lineage> {
    let runs = cutRuns(earlier?.runs ?? [], position);
    while (runs.length >= runsMax)
      runs = await mergeRuns(database, {
        ...writer,
        stream,
        runs,
        name: randomUUID(),
        nowMs: clock.nowMs(),
      });
    return {
      ...identity,
      ...writer,
      stream,
      step,
      cause: 'pending',
      reason,
      runs: [...runs, { run: randomUUID(), through: openEnd }],
      streamCreated,
      position,
      continuedRun: findContinued(runs),
    };
  }

  /** A replay is continued once, even if none of its states could be restored, or if another run follows before that counts. */
  function findContinued(runs: Lineage['runs']): string {
    if (earlier?.cause === 'filled') return lastRun(earlier);
    return earlier?.cause === 'pending' ? earlier.continuedRun : findLastRun(runs);
  }

  function countOnceStored(pending: Lineage, due: number): void {
    (rows?.progress$ ?? EMPTY)
      .pipe(
        filter(({ storedThrough }) => storedThrough >= due),
        // After a failure, the next progress tries again.
        exhaustMap(() =>
          note(pending, { ...pending, cause: 'counts' }).catch((error: unknown) => {
            logger.warn({ stream, err: error }, 'lineage cannot be noted yet');
          }),
        ),
        takeWhile(() => own?.cause === 'pending'),
        takeUntil(superseded$),
      )
      .subscribe();
  }

  return {
    /** Run of the rows that this process stores; empty before the first restoration. */
    run: () => lastRun(own),
    runs: (): LineageRuns => own?.runs ?? [],
    isCounted: (snapshot: Parameters<IsCounted>[0]) => isCounted(snapshot),

    /** Whether a replay has filled a run that this process does not continue yet. */
    hasReplay: async () => own !== null && (await findNewReplay(own.streamCreated, own, chosen)) !== null,

    chooseFrom: async (streamCreated: string) => {
      earlier = await findEarlier(streamCreated);
      return readCounted(database, earlier);
    },

    beginRun: async (restored: RestoredPosition) => {
      rows?.resumeAfter(restored.position);
      superseded$.next();
      const facts = await findFacts(restored);
      const choice = chooseRun(facts);
      const { outcome, reason } = choice;
      if (reason === 'begun' && facts.newest !== null)
        logger.warn(
          { stream, foldVersion: identity.foldVersion },
          'what is stored is of another version or deployment: the stream is folded again, and processes of that version show what is stored until then',
        );
      const next = outcome === 'resumes' ? { ...choice.earlier, reason } : await begin(restored, reason);
      isCounted = await readCounted(database, next);
      own = next;
      replayed = chosen;
      const { position } = restored;
      if (outcome === 'waits') {
        // If this process is killed before, the next one of a fold without a lineage continues here.
        await note(next, { cause: 'pending', position });
        countOnceStored(next, choice.due);
      } else await note(next, { cause: 'counts', position });
      return facts.hasDiverged;
    },

    end: async (position: number) => {
      superseded$.next();
      // A fold that rewound stores some rows by later messages than another one would.
      if (own?.cause === 'counts' && own.reason !== 'rewound') await note(own, { cause: 'ended', position });
    },
  };
}
