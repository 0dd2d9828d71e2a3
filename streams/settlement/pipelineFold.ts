import { convertSettlementLines } from '../../actors/settlement/convertSettlementLines.ts';
import type { PipelineActors } from '../../actors/settlement/pipelineActors.ts';
import { noRows } from '../../actors/storedRows.ts';
import type { MessageCounts } from '../messageCounts.ts';
import { receiveBatch } from '../receiveBatch.ts';
import type { StreamFold } from '../streamFold.ts';

export interface PipelineFoldOptions {
  readonly actors: PipelineActors;
  readonly counts: MessageCounts;
}

/** The fold of `MINER_PIPELINE`: messages of modules, signer, oracle and reporter go to their actors. */
export function createPipelineFold({ actors, counts }: PipelineFoldOptions): StreamFold {
  return {
    identity: actors.identity,

    receive: (batch) => ({
      rows: noRows,
      rejections: receiveBatch({ stream: 'MINER_PIPELINE', batch, counts, receive: actors.receive }),
    }),

    capture: () => actors.capture(),
    beginRestore: () => actors.beginRestore(),
    convertLines: convertSettlementLines,
  };
}
