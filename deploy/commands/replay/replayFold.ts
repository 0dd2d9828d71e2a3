import { counterSubject } from '../../../actors/messages/subjects.ts';
import { type CounterActors, withInstallation } from '../../../actors/wheel/counterActors.ts';
import type { RowWriter } from '../../../storage/rowWriter.ts';
import { collectRows } from '../../../streams/counter/collectedRows.ts';
import type { FollowedFold } from '../../../streams/streamFollower.ts';

export interface ReplayFoldParts {
  readonly actors: CounterActors;
  readonly writer: RowWriter;
  /** Rows of messages below this sequence are those of the active tables. */
  readonly fromSequence: number;
  readonly throughSequence: number;
  /** Set where only one installation is folded: the others' state at the end is that of a snapshot there. */
  readonly only: { readonly installationId: string; readonly others: readonly string[] } | null;
  /** Removes the rows of the new tables that were made from messages above a position. */
  readonly removeRowsAbove: (position: number) => Promise<void>;
  readonly onProgress: (position: number) => void;
}

/**
 * `MINER_COUNTER` into the tables of another generation. Nothing is shown, and nothing is rejected a second time: what
 * is not accepted was published when it was folded first.
 */
export function createReplayFold(parts: ReplayFoldParts): FollowedFold {
  const { actors, writer, fromSequence, throughSequence, only, removeRowsAbove, onProgress } = parts;
  const subject = only === null ? null : counterSubject(only.installationId);
  let position = 0;
  return {
    identity: actors.identity,

    fold({ messages, position: through }) {
      const rows = collectRows();
      for (const message of messages) {
        position = message.seq;
        if (subject !== null && message.subject !== subject) continue;
        const outcome = actors.receive(message);
        if ('rejection' in outcome || position < fromSequence) continue;
        rows.add(outcome);
      }
      position = through;
      writer.add({ ...rows, throughPosition: position });
      onProgress(position);
    },

    capture() {
      // Before the end only this replay goes on from a snapshot, and it does not ask for the others.
      if (only === null || position < throughSequence) return actors.capture();
      return withInstallation(only.others, [...actors.capture()], only.installationId);
    },

    restore(lines, restoredAt) {
      actors.restore(lines);
      position = restoredAt;
      onProgress(position);
    },

    flushed: () => writer.flushed(),

    // An attempt that was killed has left rows above its last snapshot; nobody reads these tables yet.
    async rewind(above) {
      await writer.rewind(above);
      await removeRowsAbove(Math.max(above, fromSequence - 1));
    },

    removeAbove: async () => undefined,
  };
}
