import { createOldestRowMs, readRowsTtlDays } from '../../../storage/rows/rowsTtl.ts';
import type { SnapshotStore } from '../../../storage/snapshots/snapshots.ts';
import { counterStream } from '../../../streams/folds/counterStream.ts';
import { type FilledRun, fillRun } from '../../../streams/follower/fillRun.ts';
import { createStreamVerifier } from '../../../streams/jetstream/proofs/streamVerifier.ts';
import { createMessageSource } from '../../../streams/jetstream/source/messageSource.ts';
import { createProgress, type Progress } from '../../process/progress.ts';
import { systemClock } from '../../process/systemClock.ts';
import { createReplayFold } from './replayFold.ts';
import type { ReplayOptions } from './replayOptions.ts';
import { type ReplayPlan, ReplayRefused } from './replayPlan.ts';

const stream = 'MINER_COUNTER';

/**
 * Folds the planned messages into a run that nobody reads yet, and returns its history. Null if it was stopped before the end; then the folded state is
 * saved.
 *
 * @throws ReplayRefused
 */
export async function foldReplay(
  parts: ReplayOptions & { readonly snapshots: SnapshotStore },
  { from, throughSequence }: ReplayPlan,
): Promise<FilledRun['filled'] | null> {
  const { database, dryRun, signal } = parts;
  let progress: Progress | null = null;
  let beginning = throughSequence;
  const onProgress = (position: number) => {
    if (progress === null) beginning = position;
    progress ??= createProgress({
      label: 'replay',
      unit: 'messages',
      total: throughSequence,
      doneBefore: position,
      showsLag: true,
    });
    progress.update(position);
  };
  const endProgress = () => progress?.stop();
  const reader = {
    ...parts,
    stream,
    clock: systemClock,
    verifier: createStreamVerifier({ ...parts, stream, clock: systemClock }),
  } as const;
  const oldestMs = createOldestRowMs(await readRowsTtlDays(database), systemClock.nowMs)();
  const startedMs = systemClock.monotonicMs();
  const { filled, isComplete, hasLost } = await fillRun({
    ...reader,
    source: createMessageSource({
      ...reader,
      through: throughSequence,
      readStored: counterStream.createStoredReader?.({ ...reader, oldestRowMs: () => oldestMs }),
    }),
    through: throughSequence,
    fold: createReplayFold(counterStream.createActors(parts.deployment), onProgress),
    from,
    cause: dryRun ? 'checking' : 'filling',
  }).finally(endProgress);
  if (hasLost) throw new ReplayRefused(`${stream} has lost messages meanwhile: run the same command again`);
  if (signal.aborted) return null;
  if (!isComplete)
    throw new ReplayRefused('the end of the replay could not be saved: run the same command again');
  const seconds = (systemClock.monotonicMs() - startedMs) / 1_000;
  const folded = throughSequence - beginning;
  parts.print(
    `${folded} messages folded and stored in ${seconds.toFixed(1)} s (${Math.round(folded / seconds)} per second)`,
  );
  return filled;
}
