import type { SettlementActors } from '../../actors/settlement/settlementActors.ts';
import { noRows } from '../../storage/storedRows.ts';
import type { MessageCounts } from '../pipeline/messageCounts.ts';
import { receiveBatch } from '../pipeline/receiveBatch.ts';
import type { StreamFold } from '../pipeline/streamFold.ts';

interface SettlementFoldOptions {
  readonly actors: SettlementActors;
  readonly counts: MessageCounts;
}

/** The fold of `MINER_PIPELINE`: messages of modules, signer, oracle and reporter go to their actors. */
export function createSettlementFold({ actors, counts }: SettlementFoldOptions): StreamFold {
  return {
    identity: actors.identity,

    receive: (batch) => ({
      rows: noRows,
      rejections: receiveBatch({ stream: 'MINER_PIPELINE', batch, counts, receive: actors.receive }),
    }),

    capture: () => actors.capture(),
    beginRestore: () => actors.beginRestore(),
  };
}
