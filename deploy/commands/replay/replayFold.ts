import type { FoldRecord } from '../../../actors/foldRecord.ts';
import { counterSubject } from '../../../actors/messages/subjects.ts';
import type { CounterActors } from '../../../actors/wheel/counterActors.ts';
import { replaceInstallation } from '../../../actors/wheel/counterSnapshot.ts';
import { collectRows } from '../../../streams/counter/collectedRows.ts';
import { afterRestoration, type StreamFold } from '../../../streams/pipeline/streamFold.ts';

/** The replayed installation, and the others' state at the end. */
export interface ReplayedInstallation {
  readonly installationId: string;
  readonly isPublic: boolean;
  readonly others: readonly FoldRecord[];
}

interface ReplayFoldOptions {
  readonly actors: CounterActors;
  /** Rows of messages below this sequence come from the active tables. */
  readonly fromSequence: number;
  readonly throughSequence: number;
  /** Set if only one installation is folded. The others' state at the end comes from a snapshot there. */
  readonly only: ReplayedInstallation | null;
  readonly onProgress: (position: number) => void;
}

/**
 * Folds `MINER_COUNTER` into the tables of another generation. It shows nothing and publishes no rejection a second
 * time.
 */
export function createReplayFold(options: ReplayFoldOptions): StreamFold {
  const { actors, fromSequence, throughSequence, only, onProgress } = options;
  const subject = only === null ? null : counterSubject(only.installationId);
  let position = 0;
  return {
    identity: actors.identity,

    receive(batch) {
      const { messages, stored, position: through } = batch;
      const rows = collectRows();
      // Readings of messages that have left the stream; below the range they only change state.
      for (const reading of stored) {
        if (only !== null && reading.installationId !== only.installationId) continue;
        const outcome = actors.receiveStored(reading);
        if ('output' in outcome && reading.position >= fromSequence) rows.add(outcome.output);
      }
      for (const message of messages) {
        position = message.seq;
        if (subject !== null && message.subject !== subject) continue;
        const outcome = actors.receive(message);
        if ('rejection' in outcome || position < fromSequence) continue;
        rows.add(outcome.output);
      }
      position = through;
      onProgress(position);
      return { rows, rejections: [] };
    },

    capture() {
      // Before the end only this replay resumes from a snapshot, and it does not read the other installations.
      const captured = actors.capture();
      const isWhole = only === null || position < throughSequence;
      return isWhole ? captured : replaceInstallation(only.others, captured, only);
    },

    beginRestore: () =>
      afterRestoration(actors.beginRestore(), (restoredAt) => {
        position = restoredAt;
        onProgress(position);
      }),
  };
}
