import type { CounterActors } from '../../actors/wheel/counterActors.ts';
import type { RecentReadings } from '../../storage/recentReadings.ts';
import type { MessageCounts } from '../pipeline/messageCounts.ts';
import { receiveBatch } from '../pipeline/receiveBatch.ts';
import { afterRestoration, type StreamFold } from '../pipeline/streamFold.ts';
import { collectRows } from './collectedRows.ts';

export interface CounterFoldOptions {
  readonly actors: CounterActors;
  readonly recent: RecentReadings;
  readonly counts: MessageCounts;
  /** Called with the place of a state that was restored; left out where nobody asks. */
  readonly onRestored?: (position: number) => void;
}

/** The fold of `MINER_COUNTER`: readings go to the actors, the recent readings and rows. */
export function createCounterFold({ actors, recent, counts, onRestored }: CounterFoldOptions): StreamFold {
  return {
    identity: actors.identity,

    receive(batch) {
      const rows = collectRows();
      for (const reading of batch.stored) {
        const outcome = actors.receiveStored(reading);
        if ('output' in outcome) rows.add(outcome.output);
      }
      counts.accepted('MINER_COUNTER', rows.readings.length);
      const { receive } = actors;
      const collect = rows.add;
      const rejections = receiveBatch({ stream: 'MINER_COUNTER', batch, counts, receive, collect });
      if (batch.messages.length === 0) recent.skipTo(batch.position);
      else for (const reading of rows.readings) recent.add(reading);
      return { rows, rejections };
    },

    capture: () => actors.capture(),

    beginRestore: () =>
      afterRestoration(actors.beginRestore(), (position) => {
        onRestored?.(position);
        recent.reset(position);
      }),

    caughtUp: () => actors.reveal(),
  };
}
