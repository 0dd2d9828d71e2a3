import type { CounterActors } from '../../../actors/wheel/counterActors.ts';
import { collectRows } from '../../../streams/folds/counterRows.ts';
import { afterRestoration, type StreamFold } from '../../../streams/pipeline/streamFold.ts';

/**
 * Folds `MINER_COUNTER` into rows. It shows nothing and publishes no rejection a second time.
 *
 * @param onProgress is called with the position of each restored state and each batch.
 */
export function createReplayFold(actors: CounterActors, onProgress: (position: number) => void): StreamFold {
  return {
    identity: actors.identity,

    receive({ messages, stored, position }) {
      const rows = collectRows();
      // Readings of messages that have left the stream.
      for (const reading of stored) {
        const outcome = actors.receiveStored(reading);
        if ('output' in outcome) rows.add(outcome.output);
      }
      for (const message of messages) {
        const outcome = actors.receive(message);
        if ('output' in outcome) rows.add(outcome.output);
      }
      onProgress(position);
      return { rows, rejections: [] };
    },

    capture: () => actors.capture(),

    beginRestore: () => afterRestoration(actors.beginRestore(), onProgress),
  };
}
