import type { Logger } from 'pino';
import type { InputStreamName } from '../../actors/messages/subjects.ts';
import type { Database } from '../../storage/database.ts';
import { deleteRowsAbove } from '../../storage/deleteRowsAbove.ts';
import type { SnapshotStore } from '../../storage/snapshots.ts';
import type { ActiveTables } from '../../storage/tables.ts';
import type { StreamVerifier } from '../jetstream/sourceVerification.ts';
import type { Correction } from './restoreFold.ts';
import { isHistoryReplaced } from './storedHistory.ts';
import type { StreamDefinition } from './streamDefinition.ts';

interface RowRemovalOptions extends Pick<StreamDefinition<unknown>, 'readRowOrigins' | 'deleteCutOffRows'> {
  readonly stream: InputStreamName;
  readonly database: Database;
  readonly tables: ActiveTables;
  readonly snapshots: SnapshotStore;
  readonly verifier: StreamVerifier;
  /** @throws StreamsLost */
  readonly checkStreams: () => Promise<unknown>;
  readonly logger: Logger;
}

/**
 * Removes only rows of messages that the stream has lost, and of an insert that was cut off. Other rows stay, and readers see no hole: messages that
 * are folded again make the same rows under the same keys.
 */
export function createRowRemoval(options: RowRemovalOptions) {
  const { stream, database, tables, snapshots, checkStreams, logger } = options;
  const { readRowOrigins, deleteCutOffRows } = options;

  return async ({ choice, position, firstSequence, fault }: Correction): Promise<boolean> => {
    const isReplaced =
      readRowOrigins !== null &&
      (await isHistoryReplaced({
        ...options,
        readOrigins: () => readRowOrigins(database, tables()),
        foldedThrough: position,
      }));
    const hasDiverged = fault === 'diverged' || choice.disagrees || isReplaced;
    // The stream may have been replaced since it was verified.
    await checkStreams();
    // Rows of messages that retention removed cannot be made again.
    const removableAbove = Math.max(position, firstSequence - 1);
    if (!hasDiverged) {
      await deleteCutOffRows?.(database, tables(), removableAbove);
      return false;
    }
    const removed = await deleteRowsAbove(database, {
      tables: tables(),
      stream,
      position: removableAbove,
      // A kill in between never leaves a snapshot without its rows.
      deleteSnapshots: () => snapshots.deleteAbove(stream, position),
    });
    if (removed > 0)
      logger.info(
        { stream, position, removed },
        'rows of messages that are no longer in the stream were removed',
      );
    return true;
  };
}
