import type { FoldedMessage } from '../../actors/folds/foldedMessage.ts';
import type { FoldIdentity } from '../../actors/folds/foldIdentity.ts';
import type { FoldRecord, Restoration, StateRestoration } from '../../actors/folds/foldRecord.ts';
import type { ErrorKind } from '../../machines/failures.ts';
import type { FoldedRows } from '../../storage/tables/foldedRows.ts';
import type { MessageBatch } from '../jetstream/source/messageBatch.ts';
import type { RejectedMessage } from './pipelineItem.ts';

/** A fold cannot continue from its current state; the message says why. */
export class OlderSnapshotNeeded extends Error {
  override readonly name = 'OlderSnapshotNeeded';
  readonly kind: ErrorKind = 'olderSnapshotNeeded';
}

/** Output of a batch of messages, in addition to the views. */
interface FoldOutput {
  readonly rows: Omit<FoldedRows, 'throughPosition'>;
  readonly rejections: readonly RejectedMessage[];
}

/** Collects a restored state. Only the function that `complete` returns replaces the fold's state, as of a message. */
export interface FoldRestoration extends Restoration<(through: FoldedMessage) => void> {
  /** Whether the fold can continue from the added records; by default it can. */
  accepts?(): boolean;
}

/** Calls `onReplaced` with the last folded message once the restored state has replaced the fold's. */
export function afterRestoration(
  restoration: StateRestoration,
  onReplaced: (through: FoldedMessage) => void,
): FoldRestoration {
  return {
    ...restoration,
    complete: () => {
      const replace = restoration.complete();
      return (through) => {
        replace();
        onReplaced(through);
      };
    },
  };
}

/** Folds the messages of one stream into the state behind the views. */
export interface StreamFold {
  readonly identity: FoldIdentity;
  /** The start prefers a snapshot of at least this age; by default the newest. */
  readonly snapshotAgeMs?: number;
  /** @throws OlderSnapshotNeeded when an older snapshot, one that it accepts, has to be restored first. */
  receive(batch: MessageBatch): FoldOutput;
  /** The records of the state as of this call. They are produced on request, while folding continues. */
  capture(): Iterable<FoldRecord>;
  beginRestore(): FoldRestoration;
  /** Called once everything that the stream held at the restoration is folded. */
  caughtUp?(): void;
}
