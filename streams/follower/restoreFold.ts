import type { PipelineFault, RestoredState } from '../../machines/streamFollowerMachine.ts';
import type { StoredSnapshotHeader } from '../../storage/tables/foldSnapshot.ts';
import { type StreamPosition, startOfStream } from '../jetstream/proofs/streamPosition.ts';
import { readInfo } from '../jetstream/proofs/streamVerifier.ts';
import { isRefusedAs, type StreamPort } from '../nats/streamPort.ts';
import { chooseSnapshot, type SnapshotChoice, type SnapshotChoiceOptions } from './chooseSnapshot.ts';

/** Result of a restoration, and the stream position where it leaves the fold. */
export interface RestoredPosition {
  readonly choice: SnapshotChoice;
  /** Position of the restored state; the messages above it are folded again. */
  readonly position: number;
  readonly streamCreated: string;
  readonly firstSequence: number;
  /** Why the previous pipeline ended. */
  readonly fault: PipelineFault | null;
}

/** Makes the stored rows of a stream match a restored state. */
export interface StoredOutput {
  /** Returns whether what is stored came from messages that the stream no longer has. */
  readonly beginRun: (restored: RestoredPosition) => Promise<boolean>;
  /** Everything through the position is stored and saved, and nothing more will be. */
  readonly end?: (position: number) => Promise<void>;
}

export interface RestorationOptions extends Omit<SnapshotChoiceOptions, 'isUsable'> {
  /** Null for a process that stores nothing. */
  readonly stored: StoredOutput | null;
  readonly jetStream: StreamPort;
  /** @throws OperatorError when what is stored was made from a stream that is gone. */
  readonly checkStreams: () => Promise<unknown>;
  /** Finds out which snapshots may be restored. */
  readonly chooseFrom: (streamCreated: string) => Promise<(header: StoredSnapshotHeader) => boolean>;
  /** Called when the stream does not exist; omitted by a process that does not create streams. */
  readonly onMissing?: () => Promise<unknown>;
}

/**
 * Restores the newest snapshot that agrees with the stream, or the empty state. If a stream is gone, it restores nothing.
 * It begins a run before it replaces the state, so a failed attempt leaves the fold unchanged.
 *
 * @param fault why the previous pipeline ended, if no run has begun since.
 */
export async function restoreFold(
  options: RestorationOptions,
  fault: PipelineFault | null,
): Promise<RestoredState> {
  try {
    return await restoreOnce(options, fault);
  } catch (error) {
    // A stream may have vanished while nothing consumed it. If it is created here, the next attempt finds it.
    if (isRefusedAs('missing', error)) await options.onMissing?.();
    throw error;
  }
}

async function restoreOnce(options: RestorationOptions, fault: PipelineFault | null): Promise<RestoredState> {
  const { stream, fold, stored, logger } = options;
  await options.checkStreams();
  const current = await readInfo(options.jetStream, stream);
  const { created: streamCreated, firstSequence, lastSequence } = current;
  const isUsable = await options.chooseFrom(streamCreated);
  const choice = await chooseSnapshot({ ...options, isUsable }, current);
  const { found } = choice;
  const streamPosition = found === null ? startOfStream : toStreamPosition(found.header);
  const { position } = streamPosition;
  // The stream may have been replaced since it was verified.
  await options.checkStreams();
  const hasDiverged =
    stored === null
      ? choice.disagrees
      : await stored.beginRun({ choice, position, streamCreated, firstSequence, fault });
  const replaceState = found?.replaceState ?? fold.beginRestore().complete();
  replaceState({ streamCreatedMs: Date.parse(streamCreated), position, storedAtMs: 0 });
  logger.info(
    { stream, position, lastSequence },
    found === null ? 'folding from the beginning of the stream' : 'snapshot restored',
  );
  return { streamPosition, lastSequence, hasDiverged };
}

function toStreamPosition({ streamCreated, position, digest }: StoredSnapshotHeader): StreamPosition {
  return { streamCreated, position, digest };
}
