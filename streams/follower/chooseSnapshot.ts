import { isOfFold } from '../../actors/folds/foldIdentity.ts';
import { refuseOnError } from '../../actors/folds/foldRecord.ts';
import { isRefusal } from '../../storage/snapshots/snapshotText.ts';
import type { StoredSnapshotHeader } from '../../storage/tables/foldSnapshot.ts';
import { StreamDiverged, type StreamVerifier } from '../jetstream/proofs/streamVerifier.ts';
import { NotProven, orNotProven } from '../jetstream/proofs/suspicions.ts';
import type { StreamInfo } from '../nats/streamPort.ts';
import type { StateSaverOptions } from '../pipeline/stateSaver.ts';
import type { FoldRestoration } from '../pipeline/streamFold.ts';

/** The order in which snapshots are tried. */
const ranks = { oldEnough: 0, tooYoung: 1, beforeGap: 2, otherStream: 3 } as const;

/** Replaces the state of a fold with a restored one. */
type ReplaceState = ReturnType<FoldRestoration['complete']>;

export interface SnapshotChoice {
  /** The best snapshot that the fold accepts and that agrees with the stream; null if none does. */
  readonly found: { readonly header: StoredSnapshotHeader; readonly replaceState: ReplaceState } | null;
  /** Whether a newer snapshot disagrees with the stream. */
  readonly disagrees: boolean;
  /** Position of the newest snapshot, if that agrees with the stream; otherwise null. */
  readonly newestPosition: number | null;
}

export interface SnapshotChoiceOptions extends StateSaverOptions {
  readonly verifier: StreamVerifier;
  readonly isUsable: (header: StoredSnapshotHeader) => boolean;
}

/**
 * Chooses the stored snapshot from which folding continues.
 *
 * @throws NotProven while a snapshot may agree with the stream after all.
 */
export async function chooseSnapshot(
  options: SnapshotChoiceOptions,
  current: StreamInfo,
): Promise<SnapshotChoice> {
  const { stream, verifier, fold, logger } = options;
  const headers = await options.snapshots.list(stream);
  const ofFold = headers.filter((header) => isOfFold(header, fold.identity));
  const usable = ofFold.filter(options.isUsable);
  if (ofFold.length < headers.length)
    logger.info(
      { stream, snapshots: headers.length - ofFold.length, foldVersion: fold.identity.foldVersion },
      'snapshots of another version or deployment are ignored',
    );
  const isInStream = async (header: StoredSnapshotHeader) => {
    try {
      await verifier.verify(header);
      return true;
    } catch (error) {
      if (!(error instanceof StreamDiverged)) throw error;
      const { position } = header;
      logger.error(
        { stream, position, reason: error.reason, err: error },
        'snapshot disagrees with the stream',
      );
      return false;
    }
  };
  let disagrees = false;
  let notProven: NotProven | null = null;
  for (const header of sortByPreference(usable, current, options)) {
    const agrees = await orNotProven(() => isInStream(header));
    // Asked about one after another, so that the proofs of several do not wait for each other.
    if (agrees instanceof NotProven) {
      notProven ??= agrees;
      continue;
    }
    if (!agrees) {
      disagrees = true;
      continue;
    }
    if (notProven !== null) break;
    const replaceState = await readState(header, options);
    if (replaceState === null) continue;
    // The newest snapshot shows whether the stream has lost its end, even if it is too young to be restored.
    const newest = usable.find(({ streamCreated }) => streamCreated === current.created);
    if (!disagrees && newest !== undefined && newest !== header) disagrees = !(await isInStream(newest));
    const newestPosition = disagrees ? null : (newest?.position ?? null);
    return { found: { header, replaceState }, disagrees, newestPosition };
  }
  if (notProven !== null) throw notProven;
  return { found: null, disagrees, newestPosition: null };
}

/** Null, with a line in the log, if the snapshot is damaged or its content is not what the fold writes. */
async function readState(
  header: StoredSnapshotHeader,
  { stream, fold, snapshots, logger }: SnapshotChoiceOptions,
): Promise<ReplaceState | null> {
  try {
    const restoration = fold.beginRestore();
    for await (const records of snapshots.read(header)) refuseOnError(() => records.forEach(restoration.add));
    return restoration.accepts?.() === false ? null : refuseOnError(restoration.complete);
  } catch (error) {
    if (!isRefusal(error)) throw error;
    const { position } = header;
    logger.error(
      { stream, snapshot: header.snapshot, position, err: error },
      'snapshot is damaged or refused; an older one is used',
    );
    return null;
  }
}

/**
 * Snapshots that the stream continues without a gap come first, and old enough ones come before younger ones. Within a rank the highest
 * position comes first; among snapshots that are too young, the lowest.
 */
function sortByPreference(
  headers: readonly StoredSnapshotHeader[],
  { created, firstSequence }: StreamInfo,
  { fold, clock }: SnapshotChoiceOptions,
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
