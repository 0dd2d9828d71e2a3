import type { Logger } from 'pino';
import type { Clock } from '../../actors/clock.ts';
import type { InputStreamName } from '../../actors/messages/subjects.ts';
import type { IsCounted } from '../../storage/runs/mergedRuns.ts';
import type { SnapshotStore } from '../../storage/snapshots/snapshots.ts';
import type { StreamPosition } from '../jetstream/proofs/streamPosition.ts';
import type { CapturedState } from './pipelineItem.ts';
import type { StreamFold } from './streamFold.ts';

export interface StateSaverOptions {
  readonly stream: InputStreamName;
  readonly fold: StreamFold;
  readonly snapshots: SnapshotStore;
  /** The run that stores the rows of the state. */
  readonly run?: () => string;
  /** Whether the rows of a snapshot count in the same lineage. */
  readonly isCounted?: IsCounted;
  readonly clock: Clock;
  readonly logger: Logger;
}

export interface SavedStatus {
  readonly snapshotPosition: number | null;
  /** Stored bytes of the newest snapshot; null until this process has saved one. */
  readonly snapshotBytes: number | null;
  /** Failed attempts since the newest one was saved. */
  readonly snapshotFailures: number;
}

/** Captures the state of a fold, and saves one captured state after another. */
export function createStateSaver(options: StateSaverOptions) {
  const { stream, fold, snapshots, run = () => '', isCounted = () => true, clock, logger } = options;
  let saving: Promise<void> = Promise.resolve();
  let status: SavedStatus = {
    snapshotPosition: null,
    snapshotBytes: null,
    snapshotFailures: 0,
  };
  const update = (change: Partial<SavedStatus>) => {
    status = { ...status, ...change };
  };

  async function saveNow({ streamPosition, records }: CapturedState) {
    const { streamCreated, position, digest } = streamPosition;
    if (streamCreated === null) throw new Error('a snapshot needs a folded message');
    const takenAtMs = clock.nowMs();
    const header = { stream, run: run(), ...fold.identity, streamCreated, position, digest, takenAtMs };
    const snapshotBytes = await snapshots.save(header, records, isCounted);
    update({ snapshotPosition: position, snapshotBytes, snapshotFailures: 0 });
    logger.debug({ stream, position }, 'snapshot saved');
  }

  return {
    capture: (streamPosition: StreamPosition): CapturedState => ({ streamPosition, records: fold.capture() }),
    /** Saves one state after another, in the order of their capture. */
    save: (captured: CapturedState): Promise<void> => {
      const attempt = saving.then(() => saveNow(captured));
      saving = attempt.catch(() => undefined);
      return attempt;
    },
    /** Called when a snapshot was restored. */
    noteRestored: (snapshotPosition: number) => update({ snapshotPosition }),
    noteFailure: (error: unknown) => {
      update({ snapshotFailures: status.snapshotFailures + 1 });
      logger.warn(
        { stream, err: error },
        'snapshot could not be saved; the next one is tried at the usual time',
      );
    },
    /** Resolves when nothing is being saved. */
    whenIdle: () => saving,
    get status(): SavedStatus {
      return status;
    },
  };
}
