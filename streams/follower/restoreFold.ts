import type { PipelineFault, RestoredState } from '../../machines/streamFollowerMachine.ts';
import type { StoredSnapshotHeader } from '../../storage/tables/foldSnapshot.ts';
import { isStreamMissing } from '../jetstream/ensureStreams.ts';
import { type VerifiedStream, verifySource } from '../jetstream/sourceVerification.ts';
import { type StreamPosition, startOfStream } from '../jetstream/streamPosition.ts';
import { chooseSnapshot, type SnapshotChoice, type SnapshotChoiceOptions } from './chooseSnapshot.ts';

/** What a process has stored of a stream, which has to go with the restored state. */
export interface StoredOutput {
  /** A pipeline begins behind `position`: messages above it are folded again, and what they make is stored again as it was. */
  readonly resumeAfter: (position: number) => Promise<void>;
  /** Whether stored rows come from messages that the stream no longer has; left out where that cannot be known. */
  readonly isStoredHistoryReplaced?: (foldedThrough: number) => Promise<boolean>;
  /**
   * Removes what was stored from messages above `position`, which are not in the stream any more. First deletes the snapshots that say it is
   * stored, so that a process killed in between leaves rows without a snapshot, and not a snapshot without its rows.
   */
  readonly removeAbove: (position: number, deleteSnapshots: () => Promise<void>) => Promise<void>;
  /** Removes rows above `position` of an insert that a kill cut off; left out where each row shows its message. */
  readonly removeCutOff?: (position: number) => Promise<void>;
}

interface RestorationOptions extends SnapshotChoiceOptions {
  /** Null for a process that stores nothing. */
  readonly stored: StoredOutput | null;
  /** @throws StreamsLost when what is stored was made from a stream that is gone. */
  readonly checkStreams: () => Promise<unknown>;
  /** Called when the stream does not exist; left out where streams are not created. */
  readonly onMissing?: () => Promise<void>;
}

interface RestoredSnapshot extends RestoredState {
  /** When the snapshot was taken (epoch milliseconds); null where none was restored. */
  readonly takenAtMs: number | null;
}

/**
 * Restores the newest snapshot that agrees with the stream, or the empty state where there is none. Where a stream is gone, nothing is restored or removed. What is stored is corrected before the
 * state is replaced, so an attempt that fails leaves the fold as it was.
 *
 * @param fault why the pipeline before ended, where what it stored is not corrected yet.
 */
export async function restoreFold(
  options: RestorationOptions,
  fault: PipelineFault | null,
): Promise<RestoredSnapshot> {
  const { stream, fold, stored, logger } = options;
  const verified = await verifyOrCreate(options);
  const choice = await chooseSnapshot(options, verified);
  const { found } = choice;
  const place = found === null ? startOfStream : toStreamPosition(found.header);
  const { lastSequence } = verified;
  if (stored === null) await options.checkStreams();
  const hasDiverged =
    stored === null
      ? choice.disagrees
      : await correctStored(options, { ...verified, position: place.position, stored, choice, fault });
  const replaceState = found?.replaceState ?? fold.beginRestore().complete();
  replaceState(place.position);
  logger.info(
    { stream, position: place.position, lastSequence },
    found === null ? 'folding from the beginning of the stream' : 'snapshot restored',
  );
  return { place, lastSequence, hasDiverged, takenAtMs: found?.header.takenAtMs ?? null };
}

/** A stream may vanish while nothing consumes it; the next attempt finds it again. */
async function verifyOrCreate({
  jsm,
  stream,
  checkStreams,
  onMissing,
}: RestorationOptions): Promise<VerifiedStream> {
  await checkStreams();
  try {
    return await verifySource(jsm, stream, startOfStream);
  } catch (error) {
    if (isStreamMissing(error)) await onMissing?.();
    throw error;
  }
}

interface Correction {
  readonly stored: StoredOutput;
  readonly choice: SnapshotChoice;
  /** Position of the restored state. */
  readonly position: number;
  readonly firstSequence: number;
  /** Why the pipeline before ended. */
  readonly fault: PipelineFault | null;
}

/**
 * Messages that are folded again make the same rows under the same keys, so what is stored stays, and whoever reads it sees no hole. Only
 * rows of messages that the stream does not hold any more, those of another deployment, those that a rewinding fold may not make again, and
 * those of an insert that was cut off, are removed.
 *
 * @returns whether the stream is not the one whose messages were stored.
 */
async function correctStored(
  { stream, snapshots, checkStreams, logger }: RestorationOptions,
  { stored, choice, position, firstSequence, fault }: Correction,
): Promise<boolean> {
  const { resumeAfter, isStoredHistoryReplaced, removeAbove, removeCutOff } = stored;
  const { disagrees, isReconfigured } = choice;
  if (isReconfigured)
    logger.warn(
      { stream },
      'the deployment is another than that of the snapshots: the stream is folded again',
    );
  await resumeAfter(position);
  const hasDiverged =
    fault === 'diverged' || disagrees || ((await isStoredHistoryReplaced?.(position)) ?? false);
  const isRewinding = fault === 'olderSnapshotNeeded';
  // Had the stream been replaced since it was verified, all of this would be about another one.
  await checkStreams();
  // Nothing but the stored rows remembers the messages that retention has taken.
  const removableAbove = isReconfigured ? position : Math.max(position, firstSequence - 1);
  if (hasDiverged || isRewinding || isReconfigured)
    await removeAbove(removableAbove, () => snapshots.deleteAbove(stream, isReconfigured ? -1 : position));
  else await removeCutOff?.(removableAbove);
  return hasDiverged;
}

function toStreamPosition({ streamCreated, position, digest }: StoredSnapshotHeader): StreamPosition {
  return { streamCreated, position, digest };
}
