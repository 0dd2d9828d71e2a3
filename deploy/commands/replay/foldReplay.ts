import type { SnapshotStore } from '../../../storage/snapshots/snapshots.ts';
import { createStreamActors } from '../../../streams/folds/streamDefinitions.ts';
import type { FilledRun } from '../../../streams/follower/fillRun.ts';
import { createStreamVerifier } from '../../../streams/jetstream/proofs/streamVerifier.ts';
import { foldAgain } from '../../../streams/work/foldAgain.ts';
import { createProgress, type Progress } from '../../process/progress.ts';
import { systemClock } from '../../process/systemClock.ts';
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
  const { dryRun, signal } = parts;
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
  const startedMs = systemClock.monotonicMs();
  const { filled, isComplete, hasLost } = await foldAgain({
    ...parts,
    stream,
    clock: systemClock,
    verifier: createStreamVerifier({ ...parts, stream, clock: systemClock }),
    actors: createStreamActors(parts.deployment),
    through: throughSequence,
    from,
    cause: dryRun ? 'checking' : 'filling',
    onBegin: onProgress,
    onBatch: ({ position }) => onProgress(position),
  }).finally(() => progress?.stop());
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
