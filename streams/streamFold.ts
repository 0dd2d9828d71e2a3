import type { FoldIdentity } from '../actors/foldIdentity.ts';
import type { StoredRows } from '../actors/storedRows.ts';
import type { MessageBatch } from './jetstream/messageSource.ts';
import type { RejectedMessage } from './jetstream/rejectionLog.ts';

/** A fold cannot continue from the state that it has; the message says why. */
export class OlderSnapshotNeeded extends Error {
  override readonly name = 'OlderSnapshotNeeded';
}

/** What a batch of messages makes for others than the views. */
export interface FoldOutput {
  readonly rows: Omit<StoredRows, 'throughPosition'>;
  readonly rejections: readonly RejectedMessage[];
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
  /** Whether it can continue from a snapshot's state; from every one when this is left out. */
  accepts?(state: string): boolean;
  /** Immutable state as of this call, encoded line by line later. */
  capture(): Iterable<string>;
  restore(lines: Iterable<string>, position: number): void;
  /** Everything is folded that the stream held when state was restored. */
  caughtUp?(): void;
}
