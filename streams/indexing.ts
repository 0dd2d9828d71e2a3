import type { JetStreamClient, JetStreamManager } from '@nats-io/jetstream';
import type { NatsConnection } from '@nats-io/transport-node';
import type { Logger } from 'pino';
import type { ChainDeployment } from '../actors/views/chain/chainDeployment.ts';
import type { ChainProofs } from './indexer/chainProofs.ts';
import { createChainReader } from './indexer/chainReader.ts';
import { createIndexer, type Indexer } from './indexer/indexer.ts';
import { createSpanPublisher } from './indexer/spanPublisher.ts';

interface IndexingOptions {
  readonly connection: NatsConnection;
  readonly js: JetStreamClient;
  readonly jsm: JetStreamManager;
  readonly onChain: ChainDeployment;
  readonly rpcUrl: string;
  readonly proofs: ChainProofs;
  /** First block to publish again; null to publish only new blocks. */
  readonly repairFrom?: bigint | null;
  readonly logger: Logger;
  /** Called while it is far behind, with the last published block and the node's newest one. */
  readonly onProgress: (head: bigint, tip: bigint) => void;
}

export function createDeploymentIndexer(options: IndexingOptions): Indexer {
  const { connection, js, jsm, onChain, rpcUrl, proofs, repairFrom = null, logger, onProgress } = options;
  const { core } = onChain.contracts;
  const { chainId, deploymentBlock } = onChain.chain;
  return createIndexer({
    reader: createChainReader({ url: rpcUrl, addresses: Object.values(onChain.contracts), proofs }),
    publisher: createSpanPublisher({ connection, js, jsm, chainId, core }),
    chainId,
    deploymentBlock,
    repairFrom,
    timelock: onChain.contracts.operatorTimelock,
    logger,
    onProgress,
  });
}
