import type { CounterActors } from '../../actors/wheel/counterActors.ts';
import type { RecentReadings } from '../../storage/recentReadings.ts';
import { type FoldWriting, handedOn } from '../foldWriting.ts';
import type { MessageCounts } from '../messageCounts.ts';
import { createReject } from '../reject.ts';
import type { FollowedFold } from '../streamFollower.ts';
import { collectRows } from './collectedRows.ts';

export interface CounterFoldParts {
  readonly actors: CounterActors;
  readonly recent: RecentReadings;
  readonly counts: MessageCounts;
  /** Null on a read replica, which writes nothing. */
  readonly writing: FoldWriting | null;
}

/** `MINER_COUNTER`: readings into actors, memory and rows; what is not accepted into the rejection log. */
export function createCounterFold({ actors, recent, counts, writing }: CounterFoldParts): FollowedFold {
  const reject = createReject({ stream: 'MINER_COUNTER', counts, rejections: writing?.rejections ?? null });
  return {
    identity: actors.identity,

    fold({ messages, stored, position: throughPosition }, streamCreated) {
      const rows = collectRows();
      for (const reading of stored) {
        const outcome = actors.receiveStored(reading);
        if (!('rejection' in outcome)) rows.add(outcome);
      }
      for (const message of messages) {
        const outcome = actors.receive(message);
        if ('rejection' in outcome) {
          reject(message, streamCreated, outcome.rejection);
          continue;
        }
        rows.add(outcome);
      }
      counts.accepted('MINER_COUNTER', rows.readings.length);
      if (messages.length === 0) recent.skipTo(throughPosition);
      else for (const reading of rows.readings) recent.add(reading);
      writing?.writer.add({ ...rows, throughPosition });
    },

    capture: () => actors.capture(),

    restore(lines, position) {
      actors.restore(lines);
      recent.reset(position);
    },

    caughtUp: () => actors.reveal(),

    ...handedOn(writing),
  };
}
