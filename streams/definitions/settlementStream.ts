import { readStoredAtMs } from '../../actors/messages/streamMessage.ts';
import { decodeSettlement } from '../../actors/settlement/decodeSettlement.ts';
import { createSettlementActors, type SettlementActors } from '../../actors/settlement/settlementActors.ts';
import { noRows } from '../../storage/tables/foldedRows.ts';
import { receiveBatch } from '../pipeline/receiveBatch.ts';
import { findRejection, refill, type StreamDefinition } from './streamDefinition.ts';

/** `MINER_PIPELINE`: messages of modules, signer, oracle and reporter go to their actors, whose state is stored only in snapshots. */
export const settlementStream: StreamDefinition<SettlementActors> = {
  createActors: ({ genesisTimestamp, installationId, installationsMax }) =>
    createSettlementActors({
      genesisMs: genesisTimestamp * 1000,
      publicInstallationId: installationId,
      installationsMax,
    }),
  createFold: (actors, { counts }) => ({
    identity: actors.identity,

    receive: (batch) => ({
      rows: noRows,
      rejections: receiveBatch({ stream: 'MINER_PIPELINE', batch, counts, receive: actors.receive }),
    }),

    capture: () => actors.capture(),
    beginRestore: () => actors.beginRestore(),
  }),
  judgeContent:
    ({ genesisMs }) =>
    (message) =>
      findRejection(decodeSettlement(message, readStoredAtMs(message), genesisMs)),
  remedyFrom: () => refill,
};
