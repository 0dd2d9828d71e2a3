import { convertSettlementLines } from '../../actors/settlement/convertSettlementLines.ts';
import type { PipelineActors } from '../../actors/settlement/pipelineActors.ts';
import { noRows } from '../../actors/storedRows.ts';
import type { MessageCounts } from '../messageCounts.ts';
import { createRejectionCollector } from '../rejections.ts';
import type { StreamFold } from '../streamFold.ts';

export interface PipelineFoldOptions {
  readonly actors: PipelineActors;
  readonly counts: MessageCounts;
}

/** The fold of `MINER_PIPELINE`: messages of modules, signer, oracle and reporter go to their actors. */
export function createPipelineFold({ actors, counts }: PipelineFoldOptions): StreamFold {
  return {
    identity: actors.identity,

    receive({ messages, streamCreated }) {
      const rejections = createRejectionCollector('MINER_PIPELINE', streamCreated, counts);
      for (const message of messages) {
        const outcome = actors.receive(message);
        if (outcome === 'folded') counts.accepted('MINER_PIPELINE', 1);
        else if (outcome === 'unread') counts.unread('MINER_PIPELINE');
        else rejections.add(message, outcome.rejection);
      }
      return { rows: noRows, rejections: rejections.all };
    },

    capture: () => actors.capture(),
    beginRestore: () => actors.beginRestore(),
    convertLines: convertSettlementLines,
  };
}
