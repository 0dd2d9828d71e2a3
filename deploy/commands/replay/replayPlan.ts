import { type FoldIdentity, isOfFold } from '../../../actors/folds/foldIdentity.ts';
import type { InputStreamName } from '../../../actors/messages/subjects.ts';
import { OperatorError } from '../../../actors/operatorError.ts';
import type { Database } from '../../../storage/clickhouse/database.ts';
import { readLineage } from '../../../storage/runs/lineages.ts';
import { readCounted } from '../../../storage/runs/mergedRuns.ts';
import type { SnapshotStore } from '../../../storage/snapshots/snapshots.ts';
import type { StoredSnapshotHeader } from '../../../storage/tables/foldSnapshot.ts';
import { StreamDiverged, type StreamVerifier } from '../../../streams/jetstream/proofs/streamVerifier.ts';
import { askUntilProven } from '../../../streams/jetstream/proofs/suspicions.ts';
import type { StreamPort } from '../../../streams/nats/streamPort.ts';

/** The first message of a replay: its sequence, or the time at which the server stored it. */
export type ReplayStart = { readonly sequence: number } | { readonly time: Date };

interface ReplayPlanOptions {
  readonly jetStream: Pick<StreamPort, 'info' | 'firstSince'>;
  readonly database: Database;
  readonly snapshots: Pick<SnapshotStore, 'list'>;
  readonly stream: InputStreamName;
  readonly identity: FoldIdentity;
  readonly verifier: StreamVerifier;
}

/** The messages that are folded again: all after a saved state, through the message of the newest one. */
export type ReplayPlan = Awaited<ReturnType<typeof planReplay>>;

/**
 * Finds the messages and the lineage of a replay: from the newest saved state before a message on, or from the oldest one that the stream continues if
 * earlier messages have left it.
 *
 * @throws OperatorError if the requested replay is impossible.
 */
export async function planReplay(options: ReplayPlanOptions, from: ReplayStart) {
  const { jetStream, database, snapshots, stream, identity, verifier } = options;
  const { created, firstSequence } = await jetStream.info(stream);
  const lineage = await readLineage(database, stream);
  if (lineage !== null && !isOfFold(lineage, identity))
    throw new OperatorError(
      'the stored rows were made with another version or another deployment file: set MINER_DEPLOYMENT to the file that the service uses, ' +
        'or start the service with this file: it folds the stream again by itself',
    );
  const isCounted = await readCounted(database, lineage);
  const usable = (await snapshots.list(stream)).filter(
    (header) => isOfFold(header, identity) && isCounted(header),
  );
  const [newest] = usable;
  if (lineage === null || newest === undefined)
    throw new OperatorError('no state is saved yet: start the service, and try again once it has caught up');
  if (lineage.streamCreated !== created || (await isLost(verifier, newest)))
    throw new OperatorError(
      'the stream has lost messages whose rows are stored: start the service, which leaves these rows out; then try again',
    );
  const fromSequence = await findSequence(options, from);
  if (fromSequence > newest.position)
    throw new OperatorError(
      `the newest state is saved at message ${newest.position}: a replay begins there or before, not at ${fromSequence}`,
    );
  const continued = usable.filter(({ position }) => position + 1 >= firstSequence);
  const base =
    continued.find(({ position }) => position < fromSequence) ??
    (firstSequence <= 1 ? null : continued.at(-1));
  if (base === undefined || base === newest)
    throw new OperatorError(
      `messages through ${firstSequence - 1} have left the stream, and no earlier state is saved: try again once the service has saved more states`,
    );
  return {
    /** Position of the saved state that the fold begins with; 0 for the beginning of the stream. */
    after: base?.position ?? 0,
    /** The newest saved state. The service folds later messages itself. */
    newest,
    /** The lineage that counts. */
    lineage,
  };
}

async function isLost(verifier: StreamVerifier, newest: StoredSnapshotHeader): Promise<boolean> {
  try {
    await askUntilProven(() => verifier.verify(newest));
    return false;
  } catch (error) {
    if (error instanceof StreamDiverged) return true;
    throw error;
  }
}

async function findSequence({ jetStream, stream }: ReplayPlanOptions, start: ReplayStart): Promise<number> {
  if ('sequence' in start) return start.sequence;
  const found = await jetStream.firstSince(stream, start.time);
  if (found !== null) return found;
  throw new OperatorError(`the stream has stored nothing since ${start.time.toISOString()}`);
}
