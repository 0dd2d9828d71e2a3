import type { PipelineActors } from '../../actors/settlement/pipelineActors.ts';
import type { RejectionLog } from '../jetstream/rejectionLog.ts';
import type { MessageCounts } from '../messageCounts.ts';
import { createReject } from '../reject.ts';
import type { FollowedFold } from '../streamFollower.ts';

export interface PipelineFoldParts {
  readonly actors: PipelineActors;
  readonly counts: MessageCounts;
  /** Null on a read replica, which writes nothing. */
  readonly rejections: RejectionLog | null;
}

/** `MINER_PIPELINE`: modules, signer, oracle and reporter into their actors. */
export function createPipelineFold({ actors, counts, rejections }: PipelineFoldParts): FollowedFold {
  const reject = createReject({ stream: 'MINER_PIPELINE', counts, rejections });
  return {
    identity: actors.identity,

    fold({ messages }, streamCreated) {
      for (const message of messages) {
        const outcome = actors.receive(message);
        if (outcome === 'folded') counts.accepted('MINER_PIPELINE', 1);
        else if (outcome === 'unread') counts.unread('MINER_PIPELINE');
        else reject(message, streamCreated, outcome.rejection);
      }
    },

    capture: () => actors.capture(),
    restore: (lines) => actors.restore(lines),
    flushed: async () => rejections?.flushed() ?? true,
    rewind: async () => {
      await rejections?.resume();
    },
    removeAbove: async () => undefined,
  };
}
