import { convertCounterLines } from '../../actors/wheel/convertCounterLines.ts';
import type { CounterActors } from '../../actors/wheel/counterActors.ts';
import type { RecentReadings } from '../../storage/recentReadings.ts';
import type { MessageCounts } from '../messageCounts.ts';
import { createRejectionCollector } from '../rejections.ts';
import { afterRestoration, type StreamFold } from '../streamFold.ts';
import { collectRows } from './collectedRows.ts';

export interface CounterFoldOptions {
  readonly actors: CounterActors;
  readonly recent: RecentReadings;
  readonly counts: MessageCounts;
}

/** The fold of `MINER_COUNTER`: readings go to the actors, the recent readings and rows. */
export function createCounterFold({ actors, recent, counts }: CounterFoldOptions): StreamFold {
  return {
    identity: actors.identity,

    receive({ messages, stored, streamCreated, position }) {
      const rows = collectRows();
      const rejections = createRejectionCollector('MINER_COUNTER', streamCreated, counts);
      for (const reading of stored) {
        const outcome = actors.receiveStored(reading);
        if (!('rejection' in outcome)) rows.add(outcome);
      }
      for (const message of messages) {
        const outcome = actors.receive(message);
        if ('rejection' in outcome) rejections.add(message, outcome.rejection);
        else rows.add(outcome);
      }
      counts.accepted('MINER_COUNTER', rows.readings.length);
      if (messages.length === 0) recent.skipTo(position);
      else for (const reading of rows.readings) recent.add(reading);
      return { rows, rejections: rejections.all };
    },

    capture: () => actors.capture(),

    beginRestore: () => afterRestoration(actors.beginRestore(), recent.reset),

    convertLines: convertCounterLines,

    caughtUp: () => actors.reveal(),
  };
}
