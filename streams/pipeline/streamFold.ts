import type { FoldIdentity } from '../../actors/foldIdentity.ts';
import type { Restoration, StateCapture, StateRestoration } from '../../actors/foldRecord.ts';
import type { StoredRows } from '../../storage/storedRows.ts';
import type { MessageBatch } from '../jetstream/source/messageBatch.ts';
import type { RejectedMessage } from './rejectedMessage.ts';

/** A fold cannot continue from the state that it has; the message says why. */
export class OlderSnapshotNeeded extends Error {
  override readonly name = 'OlderSnapshotNeeded';
}

/** What a batch of messages makes for others than the views. */
interface FoldOutput {
  readonly rows: Omit<StoredRows, 'throughPosition'>;
  readonly rejections: readonly RejectedMessage[];
}

/** The result replaces the fold's state by the restored one, as of a place in the stream; nothing has changed before. */
export interface FoldRestoration extends Restoration<(position: number) => void> {
  /** Whether the fold can continue from what was added; from everything when this is left out. */
  accepts?(): boolean;
}

/** Does something more once the restored state has replaced the fold's: `onReplaced` is given the place in the stream that it is of. */
export function afterRestoration(
  restoration: StateRestoration,
  onReplaced: (position: number) => void,
): FoldRestoration {
  return {
    ...restoration,
    complete: () => {
      const replace = restoration.complete();
      return (position) => {
        replace();
        onReplaced(position);
      };
    },
  };
}

/** What the messages of one stream mean: the state behind the views. */
export interface StreamFold {
  readonly identity: FoldIdentity;
  /** At the start a snapshot at least so old is restored where there is one; the newest when this is left out. */
  readonly snapshotAgeMs?: number;
  /** Its rows are in tables that belong to no generation: another deployment's have to be removed from them. */
  readonly sharesTables?: boolean;
  /** @throws OlderSnapshotNeeded when a snapshot that it accepts has to be restored first. */
  receive(batch: MessageBatch): FoldOutput;
  /** Immutable state as of this call. */
  capture(): StateCapture;
  beginRestore(): FoldRestoration;
  /** Everything is folded that the stream held when state was restored. */
  caughtUp?(): void;
}
