import type { JetStreamManager } from '@nats-io/jetstream';
import type { PipelineFault, RestoredState } from '../../machines/streamFollowerMachine.ts';
import type { StoredSnapshotHeader } from '../../storage/tables/foldSnapshot.ts';
import { isStreamMissing } from '../jetstream/ensureStreams.ts';
import { readStreamState } from '../jetstream/sourceVerification.ts';
import { type StreamPosition, startOfStream } from '../jetstream/streamPosition.ts';
import { chooseSnapshot, type SnapshotChoice, type SnapshotChoiceOptions } from './chooseSnapshot.ts';

/** Corrects the stored rows of a stream so that they match the restored state. */
export interface StoredOutput {
  /** Prepares for a pipeline that begins after `position`: it folds the messages above again, and stores the same rows again. */
  readonly resumeAfter: (position: number) => Promise<void>;
  /** Whether stored rows come from messages that the stream no longer has; omitted if that cannot be known. */
  readonly isStoredHistoryReplaced?: (foldedThrough: number) => Promise<boolean>;
  /**
   * Removes the rows of messages above `position`, which are no longer in the stream. Deletes the snapshots that cover them first, so
   * that a kill in between never leaves a snapshot without its rows.
   */
  readonly removeAbove: (position: number, deleteSnapshots: () => Promise<void>) => Promise<void>;
  /** Removes rows above `position` of an insert that a kill cut off; omitted if each row shows its message. */
  readonly removeCutOff?: (position: number) => Promise<void>;
}

export interface RestorationOptions extends SnapshotChoiceOptions {
  /** Null for a process that stores nothing. */
  readonly stored: StoredOutput | null;
  readonly jsm: JetStreamManager;
  /** @throws StreamsLost when what is stored was made from a stream that is gone. */
  readonly checkStreams: () => Promise<unknown>;
  /** Called when the stream does not exist; omitted by a process that does not create streams. */
  readonly onMissing?: () => Promise<void>;
}

interface RestoredSnapshot extends RestoredState {
  /** When the snapshot was taken (epoch milliseconds); null if none was restored. */
  readonly takenAtMs: number | null;
}

/**
 * Restores the newest snapshot that agrees with the stream, or the empty state. If a stream is gone, it restores and removes nothing.
 * It corrects the stored rows before it replaces the state, so a failed attempt leaves the fold unchanged.
 *
 * @param fault why the previous pipeline ended, if its rows are not corrected yet.
 */
export async function restoreFold(
  options: RestorationOptions,
  fault: PipelineFault | null,
): Promise<RestoredSnapshot> {
  try {
    return await restoreOnce(options, fault);
  } catch (error) {
    // A stream may have vanished while nothing consumed it. If it is created here, the next attempt finds it.
    if (isStreamMissing(error)) await options.onMissing?.();
    throw error;
  }
}

async function restoreOnce(
  options: RestorationOptions,
  fault: PipelineFault | null,
): Promise<RestoredSnapshot> {
  const { stream, fold, stored, logger } = options;
  await options.checkStreams();
  const current = await readStreamState(options.jsm, stream);
  const choice = await chooseSnapshot(options, current);
  const { found } = choice;
  const place = found === null ? startOfStream : toStreamPosition(found.header);
  const { lastSequence } = current;
  if (stored === null) await options.checkStreams();
  const hasDiverged =
    stored === null
      ? choice.disagrees
      : await correctStored(options, { ...current, position: place.position, stored, choice, fault });
  const replaceState = found?.replaceState ?? fold.beginRestore().complete();
  replaceState(place.position);
  logger.info(
    { stream, position: place.position, lastSequence },
    found === null ? 'folding from the beginning of the stream' : 'snapshot restored',
  );
  return { place, lastSequence, hasDiverged, takenAtMs: found?.header.takenAtMs ?? null };
}

interface Correction {
  readonly stored: StoredOutput;
  readonly choice: SnapshotChoice;
  /** Position of the restored state. */
  readonly position: number;
  readonly firstSequence: number;
  /** Why the previous pipeline ended. */
  readonly fault: PipelineFault | null;
}

/**
 * Removes only rows of messages that the stream has lost, of another deployment, of a rewinding fold, and of an insert that was cut off.
 * Other rows stay, and readers see no hole: messages that are folded again make the same rows under the same keys.
 *
 * @returns whether the stored rows came from a stream other than the current one.
 */
async function correctStored(
  { stream, snapshots, checkStreams, logger }: RestorationOptions,
  { stored, choice, position, firstSequence, fault }: Correction,
): Promise<boolean> {
  const { resumeAfter, isStoredHistoryReplaced, removeAbove, removeCutOff } = stored;
  const { disagrees, isReconfigured } = choice;
  if (isReconfigured)
    logger.warn({ stream }, 'the snapshots belong to another deployment: the stream is folded again');
  await resumeAfter(position);
  const hasDiverged =
    fault === 'diverged' || disagrees || ((await isStoredHistoryReplaced?.(position)) ?? false);
  const isRewinding = fault === 'olderSnapshotNeeded';
  // The stream may have been replaced since it was verified.
  await checkStreams();
  // Rows of messages that retention removed cannot be made again.
  const removableAbove = isReconfigured ? position : Math.max(position, firstSequence - 1);
  if (hasDiverged || isRewinding || isReconfigured)
    await removeAbove(removableAbove, () => snapshots.deleteAbove(stream, isReconfigured ? -1 : position));
  else await removeCutOff?.(removableAbove);
  return hasDiverged;
}

function toStreamPosition({ streamCreated, position, digest }: StoredSnapshotHeader): StreamPosition {
  return { streamCreated, position, digest };
}
