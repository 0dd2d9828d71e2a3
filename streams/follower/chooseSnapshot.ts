import type { JetStreamManager } from '@nats-io/jetstream';
import type { Logger } from 'pino';
import type { Clock } from '../../actors/clock.ts';
import { isOfFold } from '../../actors/foldIdentity.ts';
import { refuseOnError } from '../../actors/foldRecord.ts';
import type { InputStreamName } from '../../actors/messages/subjects.ts';
import { isRefusal, readSnapshotRecords } from '../../storage/readSnapshotRecords.ts';
import type { SnapshotStore } from '../../storage/snapshots.ts';
import { formatSnapshotName, type StoredSnapshotHeader } from '../../storage/tables/foldSnapshot.ts';
import { StreamDiverged, type VerifiedStream, verifySource } from '../jetstream/sourceVerification.ts';
import type { StreamFold } from '../pipeline/streamFold.ts';

/** In this order snapshots are tried. */
const ranks = { oldEnough: 0, tooYoung: 1, beforeGap: 2, otherStream: 3 } as const;

/** Replaces the state of a fold by a restored one, as of a place in the stream. */
type ReplaceState = (position: number) => void;

/** A snapshot that its fold takes. */
interface Restorable {
  readonly header: StoredSnapshotHeader;
  readonly replaceState: ReplaceState;
}

export interface SnapshotChoice {
  /** The newest snapshot that can be restored and whose last message is in the stream; null if there is none. */
  readonly found: Restorable | null;
  /** A newer one disagrees with the stream. */
  readonly disagrees: boolean;
  /** What is stored was made with another deployment, and is shared with other folds. */
  readonly isReconfigured: boolean;
}

export interface SnapshotChoiceOptions {
  readonly stream: InputStreamName;
  readonly jsm: JetStreamManager;
  readonly fold: StreamFold;
  readonly snapshots: SnapshotStore;
  readonly clock: Clock;
  readonly logger: Logger;
}

/** Chooses the snapshot from which a stream is folded on, of those that are stored. */
export async function chooseSnapshot(
  options: SnapshotChoiceOptions,
  verified: VerifiedStream,
): Promise<SnapshotChoice> {
  const { stream, jsm, fold, logger } = options;
  const headers = await options.snapshots.list(stream);
  const usable = headers.filter((header) => isOfFold(header, fold.identity));
  if (usable.length < headers.length)
    logger.info(
      { stream, snapshots: headers.length - usable.length, foldVersion: fold.identity.foldVersion },
      'snapshots of another version or deployment are left alone',
    );
  const isInStream = async (header: StoredSnapshotHeader) => {
    try {
      await verifySource(jsm, stream, header);
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
  for (const header of sortByPreference(usable, verified, options)) {
    if (!(await isInStream(header))) {
      disagrees = true;
      continue;
    }
    const replaceState = await readState(header, options);
    if (replaceState === null) continue;
    // The newest one shows whether the stream has lost its end, also where it is too young to be restored.
    const newest = usable.find(({ streamCreated }) => streamCreated === verified.created);
    if (!disagrees && newest !== undefined && newest !== header) disagrees = !(await isInStream(newest));
    return { found: { header, replaceState }, disagrees, isReconfigured: false };
  }
  return { found: null, disagrees, isReconfigured: isReconfigured(headers, fold) };
}

/** Null, with a line in the log, for a snapshot that is damaged or holds something else than its fold writes. */
async function readState(
  header: StoredSnapshotHeader,
  { stream, fold, snapshots, logger }: SnapshotChoiceOptions,
): Promise<ReplaceState | null> {
  try {
    const restoration = fold.beginRestore();
    for await (const records of readSnapshotRecords(snapshots, header))
      refuseOnError(() => records.forEach(restoration.add));
    return restoration.accepts?.() === false ? null : refuseOnError(restoration.complete);
  } catch (error) {
    if (!isRefusal(error)) throw error;
    const { position } = header;
    logger.error(
      { stream, snapshot: formatSnapshotName(header), position, err: error },
      'snapshot is damaged or refused; an older one is used',
    );
    return null;
  }
}

/**
 * In which order snapshots are tried: those that the stream continues without a gap before those that it does not; old enough ones
 * before younger ones; those of the highest position first, and among the too young ones the oldest.
 */
function sortByPreference(
  headers: readonly StoredSnapshotHeader[],
  { created, firstSequence }: VerifiedStream,
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

/** Where no snapshot can be restored. */
function isReconfigured(headers: readonly StoredSnapshotHeader[], { sharesTables, identity }: StreamFold) {
  if (!sharesTables || headers.length === 0) return false;
  const { configuration } = identity;
  return headers.every((header) => header.configuration !== configuration);
}
