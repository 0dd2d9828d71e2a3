import { type PipelineActors, pipelineFoldVersion } from '../actors/pipelineActors.ts';
import type { RejectionLog } from '../streams/rejectionLog.ts';
import type { MessageCounts } from './messageCounts.ts';
import type { FollowedFold } from './streamFollower.ts';

export interface PipelineFoldParts {
  readonly actors: PipelineActors;
  readonly counts: MessageCounts;
  /** Null on a read replica, which writes nothing. */
  readonly rejections: RejectionLog | null;
}

/** `MINER_PIPELINE`: module snapshots and signers into their actors. */
export function createPipelineFold({ actors, counts, rejections }: PipelineFoldParts): FollowedFold {
  return {
    foldVersion: pipelineFoldVersion,

    fold({ messages }, streamCreated) {
      for (const message of messages) {
        const outcome = actors.receive(message);
        if (outcome === 'folded') counts.accepted('MINER_PIPELINE', 1);
        else if (outcome === 'unread') counts.unread('MINER_PIPELINE');
        else {
          const { reason, detail } = outcome.rejection;
          counts.rejected('MINER_PIPELINE', reason);
          const { seq: sequence, subject, data } = message;
          rejections?.add({ streamCreated, sequence, subject, data, reason, detail });
        }
      }
    },

    capture: () => actors.capture(),
    restore: (lines) => actors.restore(lines),
    flushed: async () => rejections?.flushed() ?? true,
    removeAbove: async () => {
      await rejections?.resume();
    },
  };
}
